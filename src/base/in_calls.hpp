// What passed, really, while the one thread that calls MPI did, since somebody has asked for it:
// other threads compute meanwhile, or wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ticks.hpp"
#include "base/time.hpp"

namespace foretrace {

class InCalls {
 public:
  void begin() {
    if (is_asked_.load(std::memory_order_relaxed)) begin_ns_ = monotonic_ns();
  }
  void end() {
    if (!is_asked_.load(std::memory_order_relaxed)) return;
    const std::int64_t begin = begin_ns_.exchange(0);
    if (begin != 0) passed_ns_ += monotonic_ns() - begin;
  }
  // By the thread that calls, between its calls.
  void ask() { is_asked_.store(true, std::memory_order_relaxed); }
  // By any thread; what has passed of the call at hand included.
  Time passed() const {
    const std::int64_t begin = begin_ns_;
    return Time::ns(passed_ns_ + (begin == 0 ? 0 : monotonic_ns() - begin));
  }

 private:
  std::atomic<bool> is_asked_ = false;
  std::atomic<std::int64_t> begin_ns_ = 0;  // of the call at hand; 0: there is none
  std::atomic<std::int64_t> passed_ns_ = 0;
};

}  // namespace foretrace
