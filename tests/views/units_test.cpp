#include "views/draw/units.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "views/draw/text_table.hpp"

namespace foretrace::views {
namespace {

TEST(Units, TimesHaveFourDigitsAndAFittingUnit) {
  EXPECT_EQ(format_time(Time()), "0 s");
  EXPECT_EQ(format_time(Time::ps(1)), "1 ps");
  EXPECT_EQ(format_time(Time::ps(999)), "999 ps");
  EXPECT_EQ(format_time(Time::ps(1500)), "1.5 ns");
  EXPECT_EQ(format_time(Time::ns(72'000'000)), "72 ms");
  EXPECT_EQ(format_time(Time::ns(712'345'678)), "712.3 ms");
  EXPECT_EQ(format_time(Time::ns(12'345'600'000)), "12.35 s");
  EXPECT_EQ(format_time(Time::ns(20'000'000'000'000)), "20000 s");
  EXPECT_EQ(format_time(Time::ns(-1500)), "-1.5 us");
}

TEST(Units, RoundingMovesToTheNextUnit) {
  EXPECT_EQ(format_time(Time::ps(999'960)), "1 us");
  EXPECT_EQ(format_time(Time::ps(999'940)), "999.9 ns");
}

// By way of whole picoseconds, 10.265 ns, it would be 10.27 ns.
TEST(Units, TimesAreRoundedOnce) {
  EXPECT_EQ(format_picoseconds(10264.7059), "10.26 ns");
  EXPECT_EQ(format_picoseconds(10094.677), "10.09 ns");
  EXPECT_EQ(format_picoseconds(1.2346), "1.235 ps");
  EXPECT_EQ(format_picoseconds(0.49), "0 s");
}

TEST(Units, Bytes) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(10239)), "10239 B");
  EXPECT_EQ(format_bytes(Bytes(10240)), "10 KiB");
  EXPECT_EQ(format_bytes(Bytes(1572864)), "1.5 MiB");
  EXPECT_EQ(format_bytes(Bytes(123456789)), "117.7 MiB");
  // What rounding would make look whole is not rounded.
  EXPECT_EQ(format_bytes(Bytes(65536)), "64 KiB");
  EXPECT_EQ(format_bytes(Bytes(65537)), "65537 B");
  EXPECT_EQ(format_bytes(Bytes(131071)), "131071 B");
  EXPECT_EQ(format_bytes(Bytes(1048570)), "1048570 B");
  EXPECT_EQ(format_bytes(Bytes(1572865)), "1572865 B");
}

TEST(Units, RatiosAndPercents) {
  EXPECT_EQ(format_ratio(3.40123), "3.401");
  EXPECT_EQ(format_ratio(1), "1");
  EXPECT_EQ(format_ratio(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_percent(0.4252), "42.5 %");
}

TEST(Units, SecondsAreTheNearestDouble) {
  EXPECT_EQ(to_seconds(Time::ns(72'000'000)), 0.072);
  EXPECT_EQ(to_seconds(Time::ps(1)), 1e-12);
}

TEST(TextTable, AlignsByCharactersAndTrimsLines) {
  TextTable table({Align::left, Align::right, Align::left});
  table.add({"a", "1", "x"});
  table.add({"\xc3\xa4\xc3\xb6", "234"});  // two characters, four bytes
  table.add({"abc", "5", ""});
  EXPECT_EQ(table.render(1), " a      1  x\n \xc3\xa4\xc3\xb6   234\n abc    5\n");
}

}  // namespace
}  // namespace foretrace::views
