// The interval over launches, and functions without undisturbed blocks.
#include "measure/campaign/precision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

TEST(Precision, HalfWidthOfTheIntervalOverLaunches) {
  // Medians 10, 11, 12: mean 11, standard deviation 1, t of 2 degrees 4.303.
  SampleSet set;
  for (int launch = 1; launch <= 3; ++launch)
    for (int block = -1; block <= 1; ++block)
      set.samples.push_back({"send", 2, 8, launch, 9.0 + launch + 0.1 * block, true});
  const Precision precision = precision_of(set);
  EXPECT_NEAR(precision.half_width, 4.303 / std::sqrt(3.0) / 11, 1e-4);
  EXPECT_EQ(precision.points, 1u);
}

TEST(Precision, ManyBlocksOfOneLaunchSayNothing) {
  SampleSet set;
  for (int block = 0; block < 100; ++block) set.samples.push_back({"send", 2, 8, 1, 1.0, true});
  EXPECT_TRUE(std::isinf(precision_of(set).half_width));
}

TEST(Precision, DisturbedBlocksDoNotCount) {
  SampleSet set;
  for (int launch = 1; launch <= 2; ++launch) {
    set.samples.push_back({"send", 2, 8, launch, 1.0, true});
    set.samples.push_back({"send", 2, 8, launch, 100.0 * launch, false});
  }
  EXPECT_EQ(precision_of(set).half_width, 0);
}

TEST(Precision, TheMiddleOfThePoints) {
  // Relative spreads of 0, 0.1 and a wild one.
  SampleSet set;
  const double spread[] = {0, 0.1, 3};
  for (std::uint64_t point = 0; point < 3; ++point)
    for (int launch = 1; launch <= 2; ++launch)
      set.samples.push_back({"send", 2, point, launch, 10 + spread[point] * launch, true});
  // Two medians that differ by h: standard deviation h / sqrt 2, over sqrt 2.
  EXPECT_NEAR(precision_of(set).half_width, 12.7062 * 0.05 / 10.15, 1e-6);
}

TEST(InvalidFunctions, NearlyAlwaysDisturbed) {
  SampleSet set;
  for (int launch = 1; launch <= 4; ++launch)
    for (std::uint64_t bytes : {1, 2, 3, 4}) {
      set.samples.push_back({"send", 2, bytes, launch, 1, true});
      // Undisturbed at one size of four.
      set.samples.push_back({"bcast", 2, bytes, launch, 1, bytes == 1});
      // In one launch of four.
      set.samples.push_back({"recv", 2, bytes, launch, 1, launch == 1});
      // In two launches of four.
      set.samples.push_back({"ssend", 2, bytes, launch, 1, launch <= 2});
    }
  EXPECT_THAT(invalid_functions(set), ElementsAre("bcast", "recv"));
}

TEST(SparseFunctions, OneOrTwoSizesWhereOthersHaveMany) {
  SampleSet set;
  for (std::uint64_t bytes = 1; bytes <= 6; ++bytes)
    set.samples.push_back({"send", 2, bytes, 1, 1, true});
  for (std::uint64_t bytes = 1; bytes <= 3; ++bytes)
    set.samples.push_back({"scan", 2, bytes, 1, 1, true});
  for (int launch = 1; launch <= 9; ++launch)
    for (std::uint64_t bytes : {8, 64})
      set.samples.push_back({"exscan", 2, bytes, launch, 1, true});
  set.samples.push_back({"barrier", 2, 0, 1, 1, true});
  EXPECT_THAT(sparse_functions(set), ElementsAre("exscan"));
  // Nobody has many: the user wanted few.
  std::erase_if(set.samples, [](const Sample& sample) { return sample.function == "send"; });
  EXPECT_THAT(sparse_functions(set), ElementsAre());
}

}  // namespace
}  // namespace foretrace::measure
