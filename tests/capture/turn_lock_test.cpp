// Turns: one thread at a time.
#include "capture/host/turn_lock.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace foretrace::capture {
namespace {

TEST(TurnLock, OneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  TurnLock lock;
  long count = 0;  // guarded by the lock alone
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard turn(lock);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, long{kThreads} * kRounds);
}

// On one core a thread that polls would go on for whole slices of the scheduler's,
// a hundred thousand turns, while another waits.
TEST(TurnLock, OneThatPollsKeepsNobodyOut) {
  constexpr int kTurns = 50;
  constexpr long kFew = 1000;
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  TurnLock lock;
  std::atomic<bool> done{false};
  std::atomic<bool> wanted{false};
  std::atomic<long> polls{0};
  long polls_while_wanted = 0;  // guarded by the lock
  std::thread polling([&] {
    while (!done.load(std::memory_order_relaxed)) {
      const std::lock_guard turn(lock);
      polls.fetch_add(1, std::memory_order_relaxed);
      polls_while_wanted += wanted.load(std::memory_order_relaxed) ? 1 : 0;
    }
  });
  int kept_out = 0;
  for (int i = 0; i < kTurns; ++i) {
    for (const long seen = polls; polls == seen;) std::this_thread::yield();
    wanted = true;
    const std::lock_guard turn(lock);
    wanted = false;
    kept_out += std::exchange(polls_while_wanted, 0) > kFew ? 1 : 0;
  }
  done = true;
  polling.join();
  ::sched_setaffinity(0, sizeof before, &before);
  EXPECT_LT(kept_out, kTurns / 10);
}

}  // namespace
}  // namespace foretrace::capture
