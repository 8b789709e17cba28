#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace foretrace::stats {
namespace {

using Values = std::vector<double>;

TEST(Summary, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{9, 1, 5, 3}), 4);  // between 3 and 5
}

TEST(Summary, MedianIgnoresOneOutlier) {
  EXPECT_EQ(median(Values{1, 2, 3, 4, 1e9}), 3);
}

TEST(Summary, QuantileIsLinearBetweenNeighbours) {
  const Values values{40, 10, 30, 20};  // positions 0..3
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_EQ(quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);  // position 0.75 between 10 and 20
}

TEST(Summary, MedianAbsoluteDeviation) {
  // Median 2; distances 1 1 0 0 2 4 7 sorted 0 0 1 1 2 4 7.
  EXPECT_EQ(median_absolute_deviation(Values{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation(Values{5, 5, 5}), 0);
}

TEST(Summary, StandardDeviationKeepsItsDigitsFarFromZero) {
  EXPECT_EQ(standard_deviation(Values{1 + 1e8, 2 + 1e8, 3 + 1e8}), 1);
  EXPECT_EQ(standard_deviation(Values{1 + 1e15, 2 + 1e15, 3 + 1e15}), 1);
  EXPECT_EQ(mean(Values{1 + 1e15, 2 + 1e15, 3 + 1e15}), 2 + 1e15);
}

TEST(Summary, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(student(0.95, 4), 2.776, 5e-4);
  EXPECT_NEAR(student(0.999, 4), 8.610, 5e-4);
  EXPECT_NEAR(student(0.95, 1e6), 1.960, 5e-4);
}

TEST(Summary, StandardDeviationOfOneValueAndOfConstants) {
  EXPECT_EQ(standard_deviation(Values{7}), 0);
  EXPECT_EQ(standard_deviation(Values{0.1, 0.1, 0.1}), 0);
}

TEST(Summary, MeanOfTheMiddleHalf) {
  EXPECT_EQ(interquartile_mean(Values{7}), 7);
  EXPECT_EQ(interquartile_mean(Values{7, 9}), 8);
  // Three quarters of the outer values are cut off: (0.25 * 1 + 4 + 0.25 * 100) / 1.5.
  EXPECT_DOUBLE_EQ(interquartile_mean(Values{100, 4, 1}), 19.5);
  EXPECT_EQ(interquartile_mean(Values{1e9, 3, 5, -1e9}), 4);
  // Nine values that alternate: places 2.25 to 6.75 hold 2.75 of the five 2 and 1.75 of the four 4.
  EXPECT_DOUBLE_EQ(interquartile_mean(Values{2, 4, 2, 4, 2, 4, 2, 4, 2}),
                   (2.75 * 2 + 1.75 * 4) / 4.5);
}

TEST(Summary, EmptySetsHaveNone) {
  EXPECT_THROW(interquartile_mean(Values{}), std::invalid_argument);
  EXPECT_THROW(median(Values{}), std::invalid_argument);
  EXPECT_THROW(mean(Values{}), std::invalid_argument);
}

TEST(Summary, LeavesItsInputAlone) {
  const Values values{3, 1, 2};
  median(values);
  EXPECT_EQ(values, (Values{3, 1, 2}));
}

}  // namespace
}  // namespace foretrace::stats
