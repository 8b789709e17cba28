// Who waits for a clock by sleeping between its readings.
#include "machine/clock_wait.hpp"

#include <gtest/gtest.h>

namespace foretrace::machine {
namespace {

constexpr Time kReading = Time::ns(10);
constexpr Time ms(std::int64_t n) {
  return Time::ns(n * 1'000'000);
}

// Sleeps before each reading, until the clock has come to 20 ms; the number of readings.
int readings_until_20_ms(Time moved_by_sleep) {
  ClockWait wait;
  Time clock;
  Time slept;
  int count = 0;
  for (; clock < ms(20); ++count) {
    slept += ms(1);
    clock += moved_by_sleep;
    clock += Time::ps(kReading.count_ps() * wait.readings(slept));
    wait.showed(clock);
  }
  return count;
}

TEST(ClockWait, SleepThatMovesNothingPasses) {
  // Three readings, then 4^k of them until that is 100 us: 4^7 = 16,384 are 163.84 us. By then the
  // clock has come to 218 us, and 121 times as many bring it to 20 ms.
  EXPECT_EQ(readings_until_20_ms(Time()), 3 + 7 + 121);
}

TEST(ClockWait, SleepThatCountsIsLeftAlone) {
  EXPECT_EQ(readings_until_20_ms(ms(1)), 20);
}

TEST(ClockWait, FewReadingsHardlyMoveTheClock) {
  ClockWait wait;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(wait.readings(ms(i)), 1U);
    wait.showed(Time());
  }
  EXPECT_EQ(wait.readings(ms(4)), 4U);
  wait.showed(Time());
  // One reading for each sleep.
  EXPECT_EQ(wait.readings(ms(4)), 1U);
  wait.showed(Time());
  wait.end();
  EXPECT_EQ(wait.readings(ms(5)), 16U);
  wait.showed(Time());
  // Who does something else begins anew.
  wait.end_with_sleep();
  EXPECT_EQ(wait.readings(ms(6)), 1U);
}

TEST(ClockWait, WhoLooksForSomethingWaitsForThat) {
  ClockWait wait;
  int i = 1;
  for (; i <= 999; ++i) {
    wait.looked_in_vain();
    ASSERT_EQ(wait.readings(ms(i)), 1U);
    wait.showed(Time());
  }
  // Unless it has slept for a second in all.
  EXPECT_EQ(wait.readings(ms(i)), 4U);
}

}  // namespace
}  // namespace foretrace::machine
