#include "base/thread_usage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/in_calls.hpp"

namespace foretrace {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Time ms(std::int64_t count) {
  return Time::ns(count * kMs);
}

// The thread waited for a core, others computed, in milliseconds.
Waits waits(std::int64_t queued, std::int64_t others, std::int64_t without) {
  const ThreadUsage before{.queued = 7 * kMs, .others = 9 * kMs, .gave_away = 3};
  const ThreadUsage now{.queued = (7 + queued) * kMs, .others = (9 + others) * kMs, .gave_away = 4};
  return waits_between(before, now, ms(without));
}

TEST(ThreadUsage, TellsForWhomAThreadWaited) {
  EXPECT_EQ(waits(0, 0, 50).for_others, ms(50));
  EXPECT_EQ(waits(0, 4, 50).for_others, ms(50));
  EXPECT_EQ(waits(0, 5, 50).for_threads, ms(50));
  EXPECT_EQ(waits(0, 5, 50).for_others, Time());
  EXPECT_EQ(waits(20, 0, 50).for_others, ms(30));
  EXPECT_EQ(waits(50, 0, 50).for_others, Time());
}

TEST(ThreadUsage, CountsNothingWhereTheKernelDoesNotSay) {
  const ThreadUsage known{.queued = 0, .gave_away = 1}, unknown{.gave_away = 2};
  EXPECT_EQ(waits_between(known, unknown, ms(50)).for_others, Time());
  EXPECT_EQ(waits_between(unknown, known, ms(50)).for_others, Time());
  // Nor where its core was taken from it.
  EXPECT_EQ(waits_between(known, known, ms(50)).for_others, Time());
}

void sleep_ms(int count) {
  std::this_thread::sleep_for(std::chrono::milliseconds(count));
}

TEST(InCalls, CountWhatIsAskedFor) {
  InCalls calls;
  calls.begin();
  sleep_ms(5);
  calls.end();
  EXPECT_EQ(calls.passed(), Time());
  calls.ask();
  for (int i = 0; i < 2; ++i) {
    calls.begin();
    sleep_ms(10);
    calls.end();
    sleep_ms(30);
  }
  EXPECT_GE(calls.passed(), ms(20));
  EXPECT_LT(calls.passed(), ms(50));
  EXPECT_EQ(calls.before(), calls.passed());
}

TEST(InCalls, TellOfTheCallAtHand) {
  InCalls calls;
  calls.ask();
  calls.begin();
  sleep_ms(10);
  EXPECT_GE(calls.passed(), ms(10));
  EXPECT_EQ(calls.before(), Time());
}

// Whoever comes in then may not be the one that leaves.
TEST(InCalls, EndWhereSeveralThreadsCall) {
  InCalls calls;
  calls.ask();
  calls.begin();
  sleep_ms(10);
  calls.end();
  const Time passed = calls.passed();
  calls.begin();
  calls.stop();
  calls.ask();
  sleep_ms(10);
  EXPECT_EQ(calls.passed(), passed);
  calls.begin();
  sleep_ms(10);
  EXPECT_EQ(calls.passed(), passed);
}

}  // namespace
}  // namespace foretrace
