#include "measure/campaign/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace foretrace::measure {
namespace {

TEST(Progress, TimesAreShort) {
  EXPECT_EQ(clock_text(7.4), "0:07");
  EXPECT_EQ(clock_text(135), "2:15");
  EXPECT_EQ(clock_text(3900), "1:05:00");
  EXPECT_EQ(clock_text(-3), "0:00");
}

TEST(Progress, TheBarFillsUp) {
  EXPECT_EQ(bar_text(2, 5, 0.3, 70), "launch 2 of 5 [######..............] 30 %, about 1:10 left");
  EXPECT_EQ(bar_text(5, 5, 1, 0), "launch 5 of 5 [####################] 100 %, about 0:00 left");
}

TEST(Progress, WithoutATerminalALineForEachLaunch) {
  std::ostringstream out;
  Progress progress(&out, false);
  progress.begin(4, 5, 10, "");
  progress.end();
  EXPECT_EQ(out.str(), "foretrace measure: launch 4 of 5, about 0:20 left\n");
}

TEST(Progress, TheBarIsTakenAwayAtTheEnd) {
  std::ostringstream out;
  Progress progress(&out, true);
  progress.begin(1, 5, 10, "/nonexistent");
  progress.end();
  EXPECT_THAT(out.str(), testing::StartsWith("\rlaunch 1 of 5 ["));
  EXPECT_THAT(out.str(), testing::EndsWith("\r\033[K"));
}

}  // namespace
}  // namespace foretrace::measure
