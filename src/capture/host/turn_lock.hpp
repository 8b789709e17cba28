// TurnLock: a lock that no thread keeps for itself. A plain mutex may give it to
// the thread again that has just let go, and one that polls would keep all
// others out; strict order would cost a switch between threads each time where
// they share cores. Knows nothing of MPI.
#pragma once

#include <sched.h>

#include <atomic>

namespace foretrace::capture {

class TurnLock {
 public:
  void lock() noexcept {
    // Whoever waits may need this core for its turn.
    if (waiting_.load(std::memory_order_relaxed) > 0 && last_ == &self()) ::sched_yield();
    if (!try_lock()) wait();
    last_ = &self();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 100;

  static char& self() noexcept {
    static thread_local char mark;
    return mark;
  }
  bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void wait() noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    for (int spins = 0; !try_lock(); ++spins)
      if (spins >= kSpins) ::sched_yield();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::atomic<bool> taken_{false};
  std::atomic<int> waiting_{0};
  std::atomic<const char*> last_{nullptr};  // had it last
};

}  // namespace foretrace::capture
