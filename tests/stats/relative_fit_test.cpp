#include "stats/relative_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace foretrace::stats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using Values = std::vector<double>;

// y = a + b x, the slope not negative.
RelativeProblem line_problem(const Values& x, const Values& y) {
  return {y, {}, {{Values(x.size(), 1.0), false}, {x, true}}, 0};
}

TEST(RelativeFit, ExactLineOverManyOrdersOfMagnitude) {
  Values x, y;
  for (double size = 1; size <= 1 << 22; size *= 4) {
    x.push_back(size);
    y.push_back(0.3 + 2.5e-4 * size);
  }
  const RelativeFit fit = fit_relative(line_problem(x, y));
  EXPECT_NEAR(fit.unknowns[0].value, 0.3, 1e-12);
  EXPECT_NEAR(fit.unknowns[1].value, 2.5e-4, 1e-15);
  EXPECT_THAT(fit.notes, IsEmpty());
  EXPECT_EQ(fit.rejected, 0u);
}

TEST(RelativeFit, WildValuesCountForNothing) {
  Values x, y;
  for (int i = 1; i <= 20; ++i) {
    x.push_back(i);
    y.push_back(10 + 2 * i);
  }
  y[3] *= 10;
  y[19] *= 3;  // the end of the line, where it would turn it most
  y[11] /= 4;
  const RelativeFit fit = fit_relative(line_problem(x, y));
  EXPECT_NEAR(fit.unknowns[0].value, 10, 1e-9);
  EXPECT_NEAR(fit.unknowns[1].value, 2, 1e-10);
  EXPECT_EQ(fit.rejected, 3u);
  EXPECT_EQ(fit.points, 20u);
  for (std::size_t i : {3, 11, 19}) EXPECT_EQ(fit.weights[i], 0);
}

TEST(RelativeFit, NoLaunchIsThrownOutAsAWhole) {
  // Three launches at 1, 1 and 1.5 times the same line: the last is no crowd of wild values. The
  // mean of the levels is 7/6; least squares of y / f - 1 gives this mean.
  RelativeProblem problem;
  problem.columns = {{{}, false}, {{}, true}};
  for (std::size_t g = 0; g < 3; ++g)
    for (int i = 1; i <= 10; ++i) {
      problem.y.push_back((10 + 2 * i) * (g == 2 ? 1.5 : 1));
      problem.group.push_back(g);
      problem.columns[0].values.push_back(1);
      problem.columns[1].values.push_back(i);
    }
  const RelativeFit fit = fit_relative(problem);
  EXPECT_EQ(fit.rejected, 0u);
  EXPECT_NEAR(fit.unknowns[0].value, 70.0 / 6, 1e-8);
  EXPECT_NEAR(fit.unknowns[1].value, 14.0 / 6, 1e-9);
}

// Far from the line at two of twelve points, but so in every launch.
TEST(RelativeFit, NoPointOnWhichLaunchesAgreeIsThrownOut) {
  RelativeProblem problem;
  problem.columns.resize(1);
  for (std::size_t g = 0; g < 5; ++g)
    for (int i = 0; i < 12; ++i) {
      const double level = i < 2 ? 20 : 10;
      problem.y.push_back(level * (1 + 0.001 * static_cast<double>(i + 3 * g % 4)));
      problem.group.push_back(g);
      // Rows must differ to be points of their own.
      problem.columns[0].values.push_back(1 + 1e-9 * i);
    }
  // And one launch alone at a third.
  problem.y[14] = 40;
  const RelativeFit fit = fit_relative(problem);
  EXPECT_EQ(fit.rejected, 1u);
  EXPECT_EQ(fit.weights[14], 0);
  EXPECT_EQ(fit.weights[0], 1);
  EXPECT_GT(fit.unknowns[0].value, 10.5);
}

TEST(RelativeFit, NoiseDoesNotPullTheFitDown) {
  // Equal numbers of values 20 % above and below a constant. Divided by y the loss would be least
  // at (1/8 + 1/12) / (1/64 + 1/144) = 9.23; the middle is 10.
  const Values y{8, 12, 8, 12, 8, 12, 8, 12};
  const RelativeFit fit = fit_relative({y, {}, {{Values(8, 1.0), true}}, 0});
  EXPECT_NEAR(fit.unknowns[0].value, 10, 1e-12);
}

TEST(RelativeFit, SlopeIsNotNegativeWhereItMustNotBe) {
  const RelativeFit fit = fit_relative(line_problem({1, 2, 3, 4}, {12, 11, 9, 8}));
  EXPECT_FALSE(fit.unknowns[1].used);
  EXPECT_EQ(fit.unknowns[1].value, 0);
  EXPECT_NEAR(fit.unknowns[0].value, 10, 1e-9);
}

TEST(RelativeFit, NothingToFit) {
  const RelativeFit fit = fit_relative(line_problem({}, {}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::no_points));
  EXPECT_FALSE(fit.unknowns[0].used);
}

TEST(RelativeFit, AllZero) {
  const RelativeFit fit = fit_relative(line_problem({1, 2, 3}, {0, 0, 0}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::all_zero));
  EXPECT_EQ(fit.unknowns[0].value, 0);
  EXPECT_EQ(fit.points, 3u);
}

TEST(RelativeFit, SomeZeros) {
  const Values x{1, 2, 3, 4, 5};
  const RelativeFit without = fit_relative(line_problem(x, {0, 6, 8, 10, 12}));
  EXPECT_THAT(without.notes, ElementsAre(Note::left_out));
  EXPECT_EQ(without.points, 4u);
  EXPECT_NEAR(without.unknowns[1].value, 2, 1e-10);
  // Below what the clock can tell a zero is as good as any other value.
  RelativeProblem problem = line_problem(x, {0, 0, 0, 0, 100});
  problem.negligible = 1;
  EXPECT_THAT(fit_relative(problem).notes, Not(Contains(Note::left_out)));
}

TEST(RelativeFit, NegativeAndInfiniteValuesAreLeftOut) {
  const RelativeFit fit =
      fit_relative(line_problem({1, 2, 3, 4, 5, 6}, {3, -1, 5, HUGE_VAL, std::nan(""), 8}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::left_out));
  EXPECT_EQ(fit.points, 3u);
  EXPECT_NEAR(fit.unknowns[1].value, 1, 1e-10);
}

TEST(RelativeFit, OneSize) {
  const RelativeFit fit = fit_relative(line_problem({8, 8, 8}, {5, 6, 7}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::too_few_points));
  EXPECT_NEAR(fit.unknowns[0].value, 6, 1e-9);
  EXPECT_FALSE(fit.unknowns[1].used);
}

TEST(RelativeFit, TwoPointsAreALineWithoutErrors) {
  const RelativeFit fit = fit_relative(line_problem({1, 2}, {5, 7}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::too_few_points));
  EXPECT_NEAR(fit.unknowns[0].value, 3, 1e-12);
  EXPECT_NEAR(fit.unknowns[1].value, 2, 1e-12);
}

TEST(RelativeFit, Constant) {
  const RelativeFit fit = fit_relative(line_problem({1, 2, 3, 4}, {4, 4, 4, 4}));
  EXPECT_THAT(fit.notes, ElementsAre(Note::constant));
  EXPECT_NEAR(fit.unknowns[0].value, 4, 1e-12);
  EXPECT_NEAR(fit.unknowns[1].value, 0, 1e-12);
}

TEST(RelativeFit, DependentColumnIsToldAndLeftOut) {
  RelativeProblem problem = line_problem({1, 2, 3, 4}, {3, 5, 7, 9});
  problem.columns.push_back({{2, 2, 2, 2}, false});
  const RelativeFit fit = fit_relative(problem);
  EXPECT_THAT(fit.notes, ElementsAre(Note::dependent_columns));
  EXPECT_FALSE(fit.unknowns[2].used);
}

TEST(RelativeFit, LengthsMustAgree) {
  EXPECT_THROW(fit_relative({{1, 2}, {0}, {}, 0}), std::invalid_argument);
  EXPECT_THROW(fit_relative({{1, 2}, {}, {{{1}, false}}, 0}), std::invalid_argument);
}

TEST(RelativeFit, EveryNoteIsASentence) {
  for (int n = 0; n <= static_cast<int>(Note::too_few_sizes); ++n) {
    const std::string_view text = sentence_of(static_cast<Note>(n));
    EXPECT_GT(text.size(), 10u);
    EXPECT_NE(text.back(), '.');
  }
}

TEST(DistinctRows, CountedByFirstAppearance) {
  const std::vector<Column> columns{{{1, 2, 1, 2}, false}, {{5, 5, 5, 6}, false}};
  EXPECT_THAT(distinct_rows(4, columns), ElementsAre(0, 1, 0, 2));
}

TEST(RelativeErrors, MeanAndMaximumOfWhatIsFlagged) {
  const Values y{10, 20, 40, 0};
  const Values fitted{11, 18, 40, 5};
  const RelativeErrors all = relative_errors(y, fitted);
  EXPECT_NEAR(all.mean, (0.1 + 0.1 + 0) / 3, 1e-15);  // of zero there is no share
  EXPECT_EQ(all.points, 3u);
  const RelativeErrors some = relative_errors(y, fitted, 10, {false, true, false, true});
  EXPECT_DOUBLE_EQ(some.max, 0.5);
  EXPECT_EQ(some.worst, 3u);
  EXPECT_DOUBLE_EQ(some.mean, 0.3);
}

}  // namespace
}  // namespace foretrace::stats
