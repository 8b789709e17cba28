// Each sample takes as long as the way that was chosen before it.
#include "live/core_choice.hpp"

#include <gtest/gtest.h>

namespace foretrace::live {
namespace {

using std::chrono::microseconds;

// How many of the samples ran together.
int samples_together(CoreChoice& choice, int samples, microseconds apart, microseconds together) {
  bool is_together = choice.together_after(apart);
  int count = 0;
  for (int i = 0; i < samples; ++i) {
    count += is_together ? 1 : 0;
    is_together = choice.together_after(is_together ? together : apart);
  }
  return count;
}

TEST(CoreChoice, FindsThatOneCoreIsQuicker) {
  CoreChoice choice;
  EXPECT_GE(samples_together(choice, 100, microseconds(30), microseconds(5)), 90);
}

TEST(CoreChoice, FindsThatSeveralCoresAreQuicker) {
  CoreChoice choice;
  EXPECT_LE(samples_together(choice, 100, microseconds(30), microseconds(50)), 10);
}

TEST(CoreChoice, TriesEverLessOften) {
  CoreChoice choice;
  EXPECT_LE(samples_together(choice, 10'000, microseconds(30), microseconds(50)), 50);
  EXPECT_GE(samples_together(choice, 10'000, microseconds(30), microseconds(50)), 1);
}

TEST(CoreChoice, LeavesAloneWhatIsClear) {
  CoreChoice choice;
  EXPECT_EQ(samples_together(choice, 100, microseconds(1000), microseconds(1)), 0);
  CoreChoice other;
  EXPECT_EQ(samples_together(other, 100, microseconds(30), microseconds(1)), 99);
}

TEST(CoreChoice, FollowsWhatTheRanksDo) {
  CoreChoice choice;
  samples_together(choice, 100, microseconds(30), microseconds(5));
  EXPECT_LE(samples_together(choice, 1000, microseconds(30), microseconds(60)), 300);
  EXPECT_GE(samples_together(choice, 1000, microseconds(30), microseconds(5)), 600);
}

// One core's caches are not as large as those of several.
TEST(CoreChoice, SharesACoreForNoSmallGain) {
  CoreChoice choice;
  EXPECT_LE(samples_together(choice, 100, microseconds(30), microseconds(21)), 10);
}

}  // namespace
}  // namespace foretrace::live
