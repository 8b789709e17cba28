// The turn at what several threads keep about a place that they wait at. Nobody has it for long;
// but a thread that does may be in a signal handler, which wakes others, too, and does without.
#pragma once

#include <sched.h>

#include <atomic>

namespace foretrace::thread_waits {

class Turn {
 public:
  explicit Turn(std::atomic_flag& taken) : taken_(taken), is_ours_(!holds_) {
    if (!is_ours_) return;
    holds_ = true;
    while (taken_.test_and_set(std::memory_order_acquire)) ::sched_yield();
  }
  ~Turn() {
    if (!is_ours_) return;
    taken_.clear(std::memory_order_release);
    holds_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return is_ours_; }

 private:
  inline static thread_local volatile bool holds_ = false;

  std::atomic_flag& taken_;
  bool is_ours_;
};

}  // namespace foretrace::thread_waits
