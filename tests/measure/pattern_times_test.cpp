// What a model keeps of the patterns of contention.
#include "measure/fit/pattern_times.hpp"

#include <gtest/gtest.h>

namespace foretrace::measure {
namespace {

TEST(PatternTimes, MediansOfTheMostRanks) {
  const std::vector<Sample> samples = {
      {"exchange_ring", 2, 64, 1, 1.0, true}, {"exchange_ring", 4, 64, 1, 2.0, true},
      {"exchange_ring", 4, 64, 2, 9.0, true}, {"exchange_ring", 4, 64, 3, 3.0, true},
      {"exchange_ring", 4, 8, 1, 0.5, true},  {"allsend", 4, 8, 1, 0.5, true},
      {"exchange_mesh", 2, 8, 1, 0.5, true}};
  const auto patterns = pattern_times(samples, {});
  ASSERT_EQ(patterns.size(), 2U);
  EXPECT_EQ(patterns[0].name, "exchange_ring");
  EXPECT_EQ(patterns[0].ranks, 4);
  ASSERT_EQ(patterns[0].times.size(), 2U);
  EXPECT_EQ(patterns[0].times[0].bytes, Bytes(8));
  EXPECT_EQ(patterns[0].times[1].seconds, 3.0);
  EXPECT_EQ(patterns[1].ranks, 2);
  EXPECT_EQ(pattern_times(samples, {"exchange_ring"}).size(), 1U);
}

TEST(PatternTimes, DisturbedOnesOnlyWhereNothingElseIs) {
  const std::vector<Sample> samples = {{"exchange_mesh", 4, 8, 1, 1.0, true},
                                       {"exchange_mesh", 4, 8, 2, 9.0, false},
                                       {"exchange_mesh", 4, 64, 1, 4.0, false}};
  const auto patterns = pattern_times(samples, {});
  ASSERT_EQ(patterns.size(), 1U);
  EXPECT_EQ(patterns[0].times[0].seconds, 1.0);
  EXPECT_EQ(patterns[0].times[1].seconds, 4.0);
}

}  // namespace
}  // namespace foretrace::measure
