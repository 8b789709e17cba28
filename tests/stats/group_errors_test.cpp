#include "stats/group_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace foretrace::stats {
namespace {

using testing::Contains;
using Values = std::vector<double>;

// A constant, measured `levels.size()` times in groups of two equal points.
RelativeProblem constant(const Values& levels) {
  RelativeProblem problem;
  problem.columns = {{{}, true}};
  for (std::size_t g = 0; g < levels.size(); ++g)
    for (int i = 0; i < 2; ++i) {
      problem.y.push_back(levels[g]);
      problem.group.push_back(g);
      problem.columns[0].values.push_back(1);
    }
  return problem;
}

GroupErrors errors_of(const RelativeProblem& problem, const GroupSettings& settings = {}) {
  return group_errors(problem, fit_relative(problem), settings);
}

TEST(GroupErrors, OfAMeanOfGroupsIsStudentsInterval) {
  // Mean 100, standard deviation sqrt(10 / 4), of the mean sqrt(10 / 4 / 5); t(4, 97.5 %)
  // = 2.776445.
  const GroupErrors errors = errors_of(constant({98, 99, 100, 101, 102}));
  const double error = std::sqrt(0.5);
  EXPECT_NEAR(errors.errors[0], error, 1e-9);
  EXPECT_NEAR(errors.coefficients[0].lower, 100 - 2.776445 * error, 1e-5);
  EXPECT_NEAR(errors.coefficients[0].upper, 100 + 2.776445 * error, 1e-5);
  EXPECT_EQ(errors.groups, 5u);
  EXPECT_EQ(errors.degrees_of_freedom, 4);
  const Interval line = errors.confidence(Values{2});
  EXPECT_NEAR(line.lower, 200 - 2 * 2.776445 * error, 1e-5);
}

TEST(GroupErrors, PredictionOfANewGroup) {
  // Points of a group agree, so the new one differs by the groups' own spread: the variance of one
  // of them and that of the mean, sqrt(2.5 + 0.5) = sqrt(3), again with four degrees of freedom.
  const Interval interval = errors_of(constant({98, 99, 100, 101, 102})).prediction(Values{1});
  EXPECT_NEAR(interval.lower, 100 - 2.776445 * std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(interval.upper, 100 + 2.776445 * std::sqrt(3.0), 1e-4);
}

TEST(GroupErrors, DrawnResamplesComeNearAllOfThem) {
  // 9 groups have 24,310 distinct resamples: 4,000 are drawn.
  const RelativeProblem problem = constant({96, 97, 98, 99, 100, 101, 102, 103, 104});
  GroupSettings settings;
  settings.resamples = 4000;
  const GroupErrors errors = errors_of(problem, settings);
  EXPECT_NEAR(errors.errors[0], std::sqrt(60.0 / 8 / 9), 0.03);
  const GroupErrors again = errors_of(problem, settings);
  EXPECT_EQ(errors.errors[0], again.errors[0]);
  settings.seed = 2;
  EXPECT_NE(errors.errors[0], errors_of(problem, settings).errors[0]);
}

TEST(GroupErrors, NonNegativeCoefficientsHaveIntervalsCutAtZero) {
  // A slope that is zero on average, once above and once below.
  RelativeProblem problem;
  problem.columns = {{{}, true}, {{}, true}};
  const Values slopes{-0.02, -0.01, 0, 0.005, 0.01};
  for (std::size_t g = 0; g < slopes.size(); ++g)
    for (int x = 0; x < 10; ++x) {
      problem.y.push_back(1 + slopes[g] * x);
      problem.group.push_back(g);
      problem.columns[0].values.push_back(1);
      problem.columns[1].values.push_back(x);
    }
  const RelativeFit fit = fit_relative(problem);
  EXPECT_FALSE(fit.unknowns[1].used);
  const GroupErrors errors = group_errors(problem, fit);
  EXPECT_EQ(errors.coefficients[1].lower, 0);
  EXPECT_GT(errors.coefficients[1].upper, 0.005);
  EXPECT_LT(errors.coefficients[1].upper, 0.03);
  EXPECT_LE(errors.coefficients[0].lower, fit.unknowns[0].value);
}

TEST(GroupErrors, OneGroupHasTheScatterOfItsPoints) {
  const RelativeProblem problem{{98, 99, 100, 101, 102}, {}, {{Values(5, 1.0), true}}, 0};
  const GroupErrors errors = errors_of(problem);
  EXPECT_THAT(errors.notes, Contains(Note::one_group));
  EXPECT_NEAR(errors.errors[0], std::sqrt(0.5), 1e-3);
  EXPECT_NEAR(errors.coefficients[0].upper, 100 + 2.776445 * std::sqrt(0.5), 1e-2);
}

TEST(GroupErrors, TwoGroupsAreToldAndWide) {
  // t(1, 97.5 %) = 12.7062.
  const GroupErrors errors = errors_of(constant({99, 101}));
  EXPECT_THAT(errors.notes, Contains(Note::few_groups));
  EXPECT_NEAR(errors.coefficients[0].upper, 100 + 12.7062, 1e-2);
}

TEST(GroupErrors, DegenerateDataGiveIntervalsOfNoWidth) {
  const RelativeProblem zeros{{0, 0, 0}, {0, 1, 2}, {{Values(3, 1.0), true}}, 0};
  const GroupErrors of_zeros = errors_of(zeros);
  EXPECT_THAT(of_zeros.notes, Contains(Note::all_zero));
  EXPECT_EQ(of_zeros.coefficients[0].upper, 0);
  EXPECT_EQ(of_zeros.prediction(Values{1}).upper, 0);

  const RelativeProblem none{{}, {}, {{{}, true}}, 0};
  EXPECT_EQ(errors_of(none).prediction(Values{1}).upper, 0);

  const GroupErrors of_same = errors_of(constant({7, 7, 7}));
  EXPECT_THAT(of_same.notes, Contains(Note::constant));
  EXPECT_NEAR(of_same.prediction(Values{1}).lower, 7, 1e-9);
  EXPECT_NEAR(of_same.prediction(Values{1}).upper, 7, 1e-9);

  const RelativeProblem two{{5, 7}, {}, {{{1, 1}, false}, {{1, 2}, true}}, 0};
  const GroupErrors of_two = errors_of(two);
  EXPECT_THAT(of_two.notes, Contains(Note::too_few_points));
  EXPECT_EQ(of_two.degrees_of_freedom, 0);
  EXPECT_NEAR(of_two.prediction(Values{1, 3}).upper, 9, 1e-9);
}

TEST(GroupErrors, WrongUse) {
  const RelativeProblem problem = constant({1, 2});
  GroupSettings settings;
  settings.coverage = 1;
  EXPECT_THROW(errors_of(problem, settings), std::invalid_argument);
  EXPECT_THROW(errors_of(problem).confidence(Values{1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace foretrace::stats
