// Threads that wait for each other by conditions, semaphores, barriers and the kernel's futexes:
// one that was woken goes on no earlier, on the rank's clock, than where the one was that woke it.
//
// Locks are left out: which of two threads takes one first is decided by the cores that they have
// here, not by the program.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/thread_calls.hpp"

namespace foretrace::thread_waits {

// The calling thread may wait for somebody to wake those that wait at `place`, from here on.
class Waiter {
 public:
  explicit Waiter(const void* place);
  ~Waiter() { leave(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // The wait is over. Whoever it was not woken by is not waited for.
  void end(bool woken);

 private:
  friend void wake(const void*, std::uint32_t, const std::optional<Position>&);
  void leave();

  const void* place_;
  bool is_in_ = false;
  std::int64_t begin_ns_ = 0;
  Waiter* next_ = nullptr;
  bool is_woken_ = false;
  std::optional<Position> by_;
};

// Calls `wait`, which returns 0 once the thread was woken.
template <class Wait>
int wait_at(const void* place, Wait wait) {
  Waiter waiter(place);
  const int result = wait();
  waiter.end(result == 0);
  return result;
}

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

// The calling thread is about to wake so many of those that wait there: as a rule those that have
// waited for longest.
void wake(const void* place, std::uint32_t most);
// The same where that is known: `by`.
void wake(const void* place, std::uint32_t most, const std::optional<Position>& by);

}  // namespace foretrace::thread_waits
