// TurnLock: threads that want the same thing have it in the order in which they
// asked. A plain mutex may give it to the thread again that has just let go,
// and one that polls would keep all others out. Knows nothing of MPI.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace foretrace::capture {

class TurnLock {
 public:
  void lock() noexcept {
    const std::uint32_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    for (int spins = 0; serving_.load(std::memory_order_acquire) != turn; ++spins)
      // Whoever has it may want this core.
      if (spins >= kSpins) ::sched_yield();
  }
  void unlock() noexcept {
    serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  static constexpr int kSpins = 100;

  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
};

}  // namespace foretrace::capture
