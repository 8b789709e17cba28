// Threads that wait for each other by conditions, semaphores, barriers and the kernel's futexes:
// one that was woken goes on no earlier, on the rank's clock, than where the one was that woke it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/locks.hpp"
#include "base/thread_calls.hpp"

namespace foretrace::thread_waits {

// Around a wait of the calling thread for somebody to wake those that wait at `place`.
void begin(const void* place);
// `woken`: by one of those that wake() was called by.
void end(bool woken);

// Calls `wait`, which returns 0 once the thread was woken.
template <class Wait>
int wait_at(const void* place, Wait wait) {
  struct Around {
    explicit Around(const void* place) { begin(place); }
    ~Around() { end(woken); }
    bool woken = false;
  } around(place);
  const int result = wait();
  around.woken = result == 0;
  return result;
}

// The same where the thread gives a lock back for as long as it waits.
template <class Mutex, class Wait>
int wait_without(const Mutex* mutex, const void* place, Wait wait) {
  return locks::without(mutex, [&] { return wait_at(place, wait); });
}

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

// The calling thread is about to wake so many of those that wait there: as a rule those that have
// waited for longest.
void wake(const void* place, std::uint32_t most);

// Of those that wait at the moment.
std::vector<thread_calls::Unawaited> unawaited();

}  // namespace foretrace::thread_waits
