#include "stats/least_squares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace foretrace::stats {
namespace {

using Values = std::vector<double>;

Values ones(std::size_t n) {
  return Values(n, 1.0);
}

// y = a + b x.
std::vector<Column> line(const Values& x, bool non_negative = false) {
  return {{ones(x.size()), false}, {x, non_negative}};
}

FitResult fit_line(const Values& x, const Values& y, ErrorSource errors = ErrorSource::residuals) {
  return fit_least_squares(y, ones(y.size()), line(x), errors);
}

// Anscombe's first set (The
// American Statistician 27, 1973) prints its regression: y = 3.0001 + 0.5001 x
// with standard errors 1.1247 and 0.1179.
const Values kAnscombeX{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
const Values kAnscombeY{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};

TEST(LeastSquares, ExactLine) {
  const FitResult fit = fit_line({0, 1, 2, 3}, {5, 7, 9, 11});
  EXPECT_NEAR(fit.unknowns[0].value, 5, 1e-13);
  EXPECT_NEAR(fit.unknowns[1].value, 2, 1e-13);
  EXPECT_NEAR(fit.chi_squared, 0, 1e-24);
  EXPECT_EQ(fit.degrees_of_freedom, 2u);
  EXPECT_NEAR(fit.q, 1, 1e-12);
}

TEST(LeastSquares, PublishedRegression) {
  const FitResult fit = fit_line(kAnscombeX, kAnscombeY);
  EXPECT_NEAR(fit.unknowns[0].value, 3.0001, 5e-5);
  EXPECT_NEAR(fit.unknowns[1].value, 0.5001, 5e-5);
  EXPECT_NEAR(fit.unknowns[0].error, 1.1247, 5e-5);
  EXPECT_NEAR(fit.unknowns[1].error, 0.1179, 5e-5);
  EXPECT_NEAR(fit.chi_squared, 13.763, 5e-4);  // the published residual sum of squares
}

TEST(LeastSquares, WeightedMean) {
  // Values 1 and 5 with sigma 1 and 2: the weights 1, 1/4 put the constant at (1*1 + 5/4) / (1 +
  // 1/4) = 1.8 and its error at 1 / sqrt(1 + 1/4).
  const Values y{1, 5};
  const Values sigma{1, 2};
  const std::vector<Column> constant{{ones(2), false}};
  const FitResult fit = fit_least_squares(y, sigma, constant, ErrorSource::sigma);
  EXPECT_NEAR(fit.unknowns[0].value, 1.8, 1e-14);
  EXPECT_NEAR(fit.unknowns[0].error, 1 / std::sqrt(1.25), 1e-14);
  // (0.8 / 1)^2 + (3.2 / 2)^2
  EXPECT_NEAR(fit.chi_squared, 3.2, 1e-13);
}

TEST(LeastSquares, ErrorsWidenOnlyWhenTheFitIsWorseThanSigma) {
  // As above: chi-squared 3.2 for one degree of freedom.
  const std::vector<Column> constant{{ones(2), false}};
  const Values sigma{1, 2};
  const auto error = [&](const Values& y, ErrorSource source) {
    return fit_least_squares(y, sigma, constant, source).unknowns[0].error;
  };
  const double plain = 1 / std::sqrt(1.25);
  EXPECT_NEAR(error({1, 5}, ErrorSource::larger), plain * std::sqrt(3.2), 1e-14);
  EXPECT_NEAR(error({5, 5}, ErrorSource::larger), plain, 1e-14);
  EXPECT_NEAR(error({5, 5}, ErrorSource::residuals), 0, 1e-14);
}

TEST(LeastSquares, PermutedPointsGiveTheSame) {
  const FitResult first = fit_line(kAnscombeX, kAnscombeY);
  std::vector<std::size_t> order(kAnscombeX.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(7);
  std::ranges::shuffle(order, random);
  Values x, y;
  for (std::size_t i : order) {
    x.push_back(kAnscombeX[i]);
    y.push_back(kAnscombeY[i]);
  }
  const FitResult second = fit_line(x, y);
  for (int j : {0, 1}) {
    EXPECT_NEAR(first.unknowns[j].value, second.unknowns[j].value, 1e-12);
    EXPECT_NEAR(first.unknowns[j].error, second.unknowns[j].error, 1e-12);
  }
}

TEST(LeastSquares, ShiftedAndScaledPoints) {
  const FitResult plain = fit_line(kAnscombeX, kAnscombeY);
  Values x = kAnscombeX, y = kAnscombeY;
  for (double& value : x) value = value * 4;
  for (double& value : y) value = value * 3 + 100;
  const FitResult moved = fit_line(x, y);
  EXPECT_NEAR(moved.unknowns[0].value, 3 * plain.unknowns[0].value + 100, 1e-11);
  EXPECT_NEAR(moved.unknowns[1].value, 0.75 * plain.unknowns[1].value, 1e-12);
  EXPECT_NEAR(moved.unknowns[1].error, 0.75 * plain.unknowns[1].error, 1e-12);
}

TEST(LeastSquares, LargeOffsets) {
  Values x = kAnscombeX, y = kAnscombeY;
  for (double& value : x) value += 1e8;
  for (double& value : y) value += 1e8;
  const FitResult plain = fit_line(kAnscombeX, kAnscombeY);
  const FitResult moved = fit_line(x, y);
  ASSERT_TRUE(moved.unknowns[1].used);
  EXPECT_NEAR(moved.unknowns[1].value, plain.unknowns[1].value, 1e-7);
  EXPECT_NEAR(moved.unknowns[1].error, plain.unknowns[1].error, 1e-6);
}

TEST(LeastSquares, ConstantDataHaveNoSlope) {
  const FitResult fit = fit_line({1, 2, 3}, {4, 4, 4});
  EXPECT_NEAR(fit.unknowns[0].value, 4, 1e-13);
  EXPECT_NEAR(fit.unknowns[1].value, 0, 1e-13);
}

TEST(LeastSquares, AllZero) {
  const FitResult fit = fit_line({1, 2, 3}, {0, 0, 0});
  EXPECT_EQ(fit.unknowns[0].value, 0);
  EXPECT_EQ(fit.unknowns[1].value, 0);
  EXPECT_EQ(fit.chi_squared, 0);
  EXPECT_EQ(fit.q, 1);
}

TEST(LeastSquares, NoPointsAndOnePoint) {
  const FitResult none = fit_line({}, {});
  EXPECT_FALSE(none.unknowns[0].used);
  EXPECT_EQ(none.q, 1);

  const FitResult one = fit_line({10}, {6});
  EXPECT_NEAR(one.unknowns[0].value, 6, 1e-14);
  EXPECT_FALSE(one.unknowns[1].used);
  EXPECT_EQ(one.degrees_of_freedom, 0u);
}

TEST(LeastSquares, MoreUnknownsThanPoints) {
  // Two points fix a line exactly; the square is left out.
  const std::vector<Column> columns{{{1, 1}, false}, {{1, 2}, false}, {{1, 4}, false}};
  const FitResult fit = fit_least_squares(Values{3, 5}, ones(2), columns);
  EXPECT_NEAR(fit.unknowns[0].value, 1, 1e-13);
  EXPECT_NEAR(fit.unknowns[1].value, 2, 1e-13);
  EXPECT_FALSE(fit.unknowns[2].used);
}

TEST(LeastSquares, ColumnThatNeverVariesIsLeftOut) {
  // The number of ranks was always 2: its column is twice the constant's.
  const std::vector<Column> columns{{ones(3), false}, {{2, 2, 2}, false}, {{8, 16, 24}, false}};
  const FitResult fit = fit_least_squares(Values{18, 26, 34}, ones(3), columns);
  EXPECT_NEAR(fit.unknowns[0].value, 10, 1e-12);
  EXPECT_FALSE(fit.unknowns[1].used);
  EXPECT_EQ(fit.unknowns[1].value, 0);
  EXPECT_NEAR(fit.unknowns[2].value, 1, 1e-13);
}

TEST(LeastSquares, NegativeCoefficientIsRefittedWithout) {
  const Values y{9, 6, 3};
  const FitResult fit = fit_least_squares(y, ones(3), line({1, 2, 3}, true));
  EXPECT_FALSE(fit.unknowns[1].used);
  EXPECT_NEAR(fit.unknowns[0].value, 6, 1e-13);  // the mean
  EXPECT_EQ(fit.degrees_of_freedom, 2u);
}

TEST(LeastSquares, SizesOverManyOrdersOfMagnitude) {
  // t = 0.3 + 2.5e-4 d from 1 byte to 16 MiB, weighted by relative error.
  Values d, t;
  for (double size = 1; size <= 1 << 24; size *= 2) {
    d.push_back(size);
    t.push_back(0.3 + 2.5e-4 * size);
  }
  const FitResult fit = fit_least_squares(t, t, line(d));
  EXPECT_NEAR(fit.unknowns[0].value, 0.3, 1e-12);
  EXPECT_NEAR(fit.unknowns[1].value, 2.5e-4, 1e-15);
}

TEST(GoodnessOfFit, KnownValues) {
  // Two degrees of freedom: Q = exp(-chi^2 / 2). One: Q = erfc(sqrt(chi^2 / 2)).
  EXPECT_NEAR(goodness_of_fit(3, 2), std::exp(-1.5), 1e-15);
  EXPECT_NEAR(goodness_of_fit(4, 1), std::erfc(std::sqrt(2.0)), 1e-15);
  // Tables of the chi-squared distribution: 18.307 is the 5 % point of ten.
  EXPECT_NEAR(goodness_of_fit(18.307, 10), 0.05, 1e-5);
  EXPECT_EQ(goodness_of_fit(0, 5), 1);
  EXPECT_EQ(goodness_of_fit(3, 0), 1);
}

TEST(FitBest, FindsTheFormThatMadeTheData) {
  const Values x{2, 4, 8, 16, 32};
  Values y, logs, squares;
  for (double p : x) {
    y.push_back(10 + 8 * std::log(p));
    logs.push_back(std::log(p));
    squares.push_back(p * p);
  }
  const std::vector<std::vector<Column>> forms{line(x), line(logs), line(squares)};
  const BestFit best = fit_best(y, ones(5), forms);
  EXPECT_EQ(best.candidate, 1u);
  EXPECT_NEAR(best.fit.unknowns[0].value, 10, 1e-12);
  EXPECT_NEAR(best.fit.unknowns[1].value, 8, 1e-12);
}

TEST(FitBest, EqualCandidatesGiveTheFirst) {
  // With two values of p every form is an exact fit.
  const std::vector<std::vector<Column>> forms{line({2, 4}), line({std::log(2.0), std::log(4.0)}),
                                               line({4, 16})};
  EXPECT_EQ(fit_best(Values{5.1, 7.3}, ones(2), forms).candidate, 0u);
}

}  // namespace
}  // namespace foretrace::stats
