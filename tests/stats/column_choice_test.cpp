#include "stats/column_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "synthetic.hpp"

namespace foretrace::stats {
namespace {

using synthetic::Noise;
using synthetic::NoiseKind;
using synthetic::Random;
using synthetic::Term;
using synthetic::Truth;
using testing::ElementsAre;

TEST(Subsets, SmallestFirstAndAlwaysWithWhatIsAsked) {
  EXPECT_THAT(subsets(3, 2), ElementsAre(ColumnSet{0}, ColumnSet{1}, ColumnSet{2}, ColumnSet{0, 1},
                                         ColumnSet{0, 2}, ColumnSet{1, 2}));
  EXPECT_THAT(subsets(3, 3, {1}),
              ElementsAre(ColumnSet{1}, ColumnSet{0, 1}, ColumnSet{1, 2}, ColumnSet{0, 1, 2}));
}

// Exact values of a + b ceil(log2 p) + c d (p-1)/p at 2..16 ranks.
RelativeProblem exact(const Truth& truth) {
  Random random(1);
  return synthetic::sample(truth, synthetic::dictionary(), {2, 4, 8, 16}, {8, 64, 512, 4096}, 3,
                           {NoiseKind::common, 0, 0, 0}, random);
}

Truth ring_like() {
  const std::vector<Term> all = synthetic::dictionary();
  return {{all[0], all[1], all[5]}, {3, 2, 0.01}};
}

TEST(ColumnChoice, FindsTheColumnsThatMadeTheData) {
  for (Criterion criterion : {Criterion::bic, Criterion::aicc}) {
    ChoiceSettings settings;
    settings.criterion = criterion;
    const Choice choice = choose_columns(exact(ring_like()), subsets(7, 4), settings);
    EXPECT_THAT(choice.columns, ElementsAre(0, 1, 5));
    EXPECT_NEAR(choice.fit.unknowns[0].value, 3, 1e-9);
    EXPECT_NEAR(choice.fit.unknowns[1].value, 2, 1e-9);
    EXPECT_NEAR(choice.fit.unknowns[5].value, 0.01, 1e-11);
    EXPECT_FALSE(choice.fit.unknowns[6].used);
    EXPECT_EQ(choice.criteria.size(), subsets(7, 4).size());
    EXPECT_EQ(choice.criteria[choice.candidate], choice.criterion);
  }
}

TEST(ColumnChoice, OfEqualCandidatesTheFirst) {
  // At two numbers of ranks log2 p and p-1 say the same.
  Random random(1);
  const RelativeProblem problem =
      synthetic::sample(ring_like(), synthetic::dictionary(), {2, 4}, {8, 64, 512}, 1,
                        {NoiseKind::common, 0, 0, 0}, random);
  const Choice choice = choose_columns(problem, {{0, 1, 5}, {0, 2, 5}});
  EXPECT_EQ(choice.candidate, 0u);
}

TEST(ColumnChoice, ACommonFactorOfALaunchChangesNothing) {
  RelativeProblem problem = exact(ring_like());
  for (std::size_t i = 0; i < problem.y.size(); ++i)
    if (problem.group[i] == 1) problem.y[i] *= 1.3;
  EXPECT_THAT(choose_columns(problem, subsets(7, 4)).columns, ElementsAre(0, 1, 5));
}

TEST(ColumnChoice, NoiseAndWildValuesBringInNoOtherForm) {
  // Of 100 noisy samples of every paper's form, the form is found again.
  const std::vector<synthetic::Form> forms = synthetic::paper_forms();
  std::vector<Term> columns{forms[0].terms[0]};
  std::vector<ColumnSet> candidates;
  for (std::size_t f = 0; f < 3; ++f) columns.push_back(forms[4 * f].terms[1]);
  for (std::size_t g = 0; g < 4; ++g) columns.push_back(forms[g].terms[2]);
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t g = 0; g < 4; ++g) candidates.push_back({0, 1 + f, 4 + g});
  int found = 0;
  for (std::size_t c = 0; c < 100; ++c) {
    Random random(c);
    const Truth truth = synthetic::random_truth(forms[c % 12].terms, 6, 512, random);
    const RelativeProblem problem =
        synthetic::sample(truth, columns, {2, 4, 8, 16}, synthetic::sizes(1, 65536, 16), 5,
                          {NoiseKind::independent, 0.03, 0.006, 0.05}, random);
    found += choose_columns(problem, candidates).candidate == c % 12;
  }
  EXPECT_GE(found, 98);
}

TEST(ColumnChoice, NothingToChooseFrom) {
  EXPECT_THROW(choose_columns(exact(ring_like()), {}), std::invalid_argument);
}

TEST(ColumnChoice, WithoutPointsTheFirst) {
  const RelativeProblem problem{{}, {}, {{{}, true}, {{}, true}}, 0};
  const Choice choice = choose_columns(problem, {{1}, {0}});
  EXPECT_EQ(choice.candidate, 0u);
  EXPECT_THAT(choice.fit.notes, ElementsAre(Note::no_points));
}

TEST(HeldOut, ErrorOfExtrapolation) {
  // The times double from 8 to 16 ranks beyond what the smaller ones told: half of them is missing.
  RelativeProblem problem = exact(ring_like());
  std::vector<bool> largest(problem.y.size());
  for (std::size_t i = 0; i < largest.size(); ++i) {
    largest[i] = problem.columns[2].values[i] == 15;  // p - 1
    if (largest[i]) problem.y[i] *= 2;
  }
  const HeldOut result = predict_held_out(problem, subsets(7, 4), largest);
  EXPECT_THAT(result.choice.columns, ElementsAre(0, 1, 5));
  EXPECT_NEAR(result.errors.mean, 0.5, 1e-9);
  EXPECT_NEAR(result.errors.max, 0.5, 1e-9);
  EXPECT_EQ(result.errors.points, 12u);
}

TEST(HeldOut, EveryPointNeedsItsFlag) {
  EXPECT_THROW(predict_held_out(exact(ring_like()), {{0}}, {true}), std::invalid_argument);
}

}  // namespace
}  // namespace foretrace::stats
