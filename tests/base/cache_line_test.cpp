// A cache line timed between two threads.
#include "base/cache_line.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace foretrace {
namespace {

// Where the other thread has no core meanwhile there is no time; then it is asked once more.
template <class Time>
bool is_timed(CacheLine& line, Time time) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    std::jthread other([&line] { line.answers(); });
    if (time() > 0) return true;
  }
  return false;
}

TEST(CacheLine, IsTimedAgainAndAgain) {
  CacheLine line;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(is_timed(line, [&line] { return line.times(); }));
    EXPECT_TRUE(is_timed(line, [&line] { return line.times_shortly(); }));
  }
}

// Who begins again at once must not take the other for ready: it may not have seen that the last
// time is over, and would answer for the next one in its place, and later wait for ever.
TEST(CacheLine, EachTimingHasItsOwnAnswers) {
  constexpr int kTimings = 5'000;
  CacheLine line;
  std::atomic<int> answered{0};
  std::jthread other([&] {
    for (int i = 0; i < kTimings; ++i) {
      line.answers();
      ++answered;
    }
  });
  int asked = 0;
  for (; asked < kTimings && asked - answered <= 1; ++asked) line.times_shortly();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (answered < asked && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(answered, asked);
  for (; answered < kTimings; std::this_thread::yield()) line.times_shortly();
}

// Who comes when it is over answers nobody, and does not wait for ever.
TEST(CacheLine, NobodyAnswers) {
  CacheLine line;
  EXPECT_EQ(line.times_shortly(), 0);
  line.answers();
  EXPECT_TRUE(is_timed(line, [&line] { return line.times_shortly(); }));
}

TEST(CacheLine, States) {
  EXPECT_TRUE(is_same_state(40e-9, 80e-9));
  EXPECT_FALSE(is_same_state(80.1e-9, 40e-9));
  EXPECT_TRUE(is_same_state(0, 250e-9));
  EXPECT_TRUE(is_same_state(40e-9, 0));
}

}  // namespace
}  // namespace foretrace
