// Turns: one thread at a time.
#include "capture/turn_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
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

// Otherwise this test does not end.
TEST(TurnLock, OneThatPollsKeepsNobodyOut) {
  TurnLock lock;
  std::atomic<bool> seen{false};
  std::vector<std::thread> polling;
  for (int t = 0; t < 3; ++t)
    polling.emplace_back([&] {
      while (!seen.load(std::memory_order_relaxed)) const std::lock_guard turn(lock);
    });
  for (int i = 0; i < 100; ++i) {
    std::this_thread::yield();
    const std::lock_guard turn(lock);
  }
  seen = true;
  for (std::thread& thread : polling) thread.join();
}

}  // namespace
}  // namespace foretrace::capture
