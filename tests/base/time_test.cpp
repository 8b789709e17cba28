// Time: the one rounding from doubles, and exact arithmetic after it.
#include "base/time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace foretrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Time, IsZeroByDefault) {
  EXPECT_EQ(Time().count_ps(), 0);
}

TEST(Time, CountsPicoseconds) {
  EXPECT_EQ(Time::ps(7).count_ps(), 7);
  EXPECT_EQ(Time::ns(7).count_ps(), 7000);
  EXPECT_EQ(Time::ns(-7).count_ps(), -7000);
  EXPECT_EQ(Time::from_seconds(72e-3).count_ps(), 72'000'000'000);
  EXPECT_EQ(Time::from_seconds(1e-12).count_ps(), 1);
}

// 10^12 = 2^12 * 5^12 and 5^12 = 244140625, so 2^-13 s = 122070312.5 ps without
// any rounding in double: a true half, whose even neighbour is the lower one.
TEST(Time, RoundsHalfAwayFromZero) {
  const double seconds = std::ldexp(1.0, -13);
  EXPECT_EQ(Time::from_seconds(seconds).count_ps(), 122070313);
  EXPECT_EQ(Time::from_seconds(-seconds).count_ps(), -122070313);
  // 3 * 2^-13 s = 366210937.5 ps: here the even neighbour is the upper one.
  EXPECT_EQ(Time::from_seconds(3 * seconds).count_ps(), 366210938);
  EXPECT_EQ(Time::from_seconds(-3 * seconds).count_ps(), -366210938);
}

// 2^-14 s = 61035156.25 ps, 3 * 2^-14 s = 183105468.75 ps.
TEST(Time, RoundsToTheNearest) {
  const double seconds = std::ldexp(1.0, -14);
  EXPECT_EQ(Time::from_seconds(seconds).count_ps(), 61035156);
  EXPECT_EQ(Time::from_seconds(-seconds).count_ps(), -61035156);
  EXPECT_EQ(Time::from_seconds(3 * seconds).count_ps(), 183105469);
  EXPECT_EQ(Time::from_seconds(-3 * seconds).count_ps(), -183105469);
  EXPECT_EQ(Time::from_seconds(1e-13).count_ps(), 0);
}

// 100,000,003 ps * 2.5 = 250,000,007.5 ps, a true half. By way of seconds, 100000003e-12 * 2.5
// is a little less than that.
TEST(Time, IsScaledWithOneRounding) {
  EXPECT_EQ(Time::ps(100'000'003).scaled(2.5).count_ps(), 250'000'008);
  EXPECT_EQ(Time::ps(-100'000'003).scaled(2.5).count_ps(), -250'000'008);
  EXPECT_EQ(Time::ps(100'000'003).scaled(0), Time());
  // Nothing is lost where nothing changes: 2^53 + 1 ps is no double.
  EXPECT_EQ(Time::ps((std::int64_t{1} << 53) + 1).scaled(1).count_ps(),
            (std::int64_t{1} << 53) + 1);
  EXPECT_EQ(Time::ps(100'000'003).scaled(1e300), Time::max());
}

TEST(Time, SaturatesWhatDoesNotFit) {
  EXPECT_EQ(Time::from_seconds(9.3e6), Time::max());
  EXPECT_EQ(Time::from_seconds(1e300), Time::max());
  EXPECT_EQ(Time::from_seconds(kInfinity), Time::max());
  EXPECT_EQ(Time::from_seconds(-9.3e6).count_ps(), INT64_MIN);
  EXPECT_EQ(Time::from_seconds(-kInfinity).count_ps(), INT64_MIN);
  // The last values that still fit: about 106 days.
  EXPECT_EQ(Time::from_seconds(9.1e6).count_ps(), 9'100'000'000'000'000'000);
  EXPECT_EQ(Time::from_seconds(-9.1e6).count_ps(), -9'100'000'000'000'000'000);
}

TEST(Time, TakesNanForZero) {
  EXPECT_EQ(Time::from_seconds(std::numeric_limits<double>::quiet_NaN()), Time());
  EXPECT_EQ(Time::from_seconds(-std::numeric_limits<double>::quiet_NaN()), Time());
}

// Far from zero a double holds only every 1024th picosecond; a Time all of them.
TEST(Time, ArithmeticIsExactToThePicosecond) {
  const Time large = Time::ps(9'000'000'000'000'000'001);
  EXPECT_EQ((large + Time::ps(1)).count_ps(), 9'000'000'000'000'000'002);
  EXPECT_EQ((large - Time::ps(2)).count_ps(), 8'999'999'999'999'999'999);
  EXPECT_EQ(large + Time::ps(1) - large, Time::ps(1));
  Time sum;
  for (int i = 0; i < 1000; ++i) sum += Time::ps(1);
  EXPECT_EQ(sum, Time::ns(1));
  sum -= Time::ps(1001);
  EXPECT_EQ(sum.count_ps(), -1);
}

// A saturated time stays where it is: a cost of Time::max() added to a clock
// must not come out in the past.
TEST(Time, ArithmeticSaturates) {
  const Time least = Time::ps(INT64_MIN);
  EXPECT_EQ(Time::max() + Time::ps(1), Time::max());
  EXPECT_EQ(Time::max() + Time::max(), Time::max());
  EXPECT_EQ(least - Time::ps(1), least);
  EXPECT_EQ(least + least, least);
  EXPECT_EQ(Time() - least, Time::max());
  EXPECT_EQ(Time::max() - Time::max(), Time());
  EXPECT_EQ(Time::max() + least, Time::ps(-1));
}

TEST(Time, IsOrdered) {
  EXPECT_LT(Time::ps(-1), Time());
  EXPECT_LT(Time::ps(1), Time::ps(2));
  EXPECT_LE(Time::ps(2), Time::ps(2));
  EXPECT_GT(Time::max(), Time::ps(INT64_MAX - 1));
  EXPECT_NE(Time::ps(1), Time::ns(1));
}

TEST(Time, GoesToSecondsAndBack) {
  EXPECT_DOUBLE_EQ(Time::ps(1).seconds(), 1e-12);
  EXPECT_DOUBLE_EQ(Time::ns(-72'000'000).seconds(), -72e-3);
  // Up to 2^53 ps (2.5 hours) a double has room for every picosecond.
  for (std::int64_t ps :
       {std::int64_t{1}, std::int64_t{999}, std::int64_t{123456789012345}, std::int64_t{1} << 52})
    EXPECT_EQ(Time::from_seconds(Time::ps(ps).seconds()).count_ps(), ps) << ps;
}

static_assert(Time::ns(1) + Time::ps(1) == Time::ps(1001), "usable in constant expressions");

}  // namespace
}  // namespace foretrace
