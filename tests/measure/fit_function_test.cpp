// Regimes, held-out errors and the error of extrapolation of one function.
#include "measure/fit/function.hpp"

#include <gtest/gtest.h>

#include <random>

#include <cmath>
#include <functional>

#include "synthetic.hpp"

namespace foretrace::measure {
namespace {

using machine::Bound;
using machine::Function;

using Truth = std::function<double(int, double)>;

FunctionProblem problem_of(const std::vector<int>& ranks, const std::vector<std::uint64_t>& sizes,
                           double deviation, const Truth& time) {
  FunctionProblem problem;
  problem.by_ranks = ranks.size() > 1;
  Noise noise(11);
  for (std::size_t launch = 0; launch < 5; ++launch)
    for (const int p : ranks)
      for (const std::uint64_t d : sizes)
        problem.observations.push_back(
            {p, d, launch, time(p, static_cast<double>(d)) * noise.factor(deviation)});
  return problem;
}

double at(const Function& function, int p, std::uint64_t d, Bound bound = Bound::avg) {
  return machine::regime_for(function, Bytes(d))
      .equation.evaluate(p, static_cast<double>(d), bound);
}

const std::vector<std::uint64_t> kSizes = sizes_to(1 << 20);

TEST(FitFunction, OneLineIsOneRegime) {
  const Function function =
      fit_function(problem_of({2}, kSizes, 0.01, [](int, double d) { return 5 + 0.01 * d; }));
  EXPECT_EQ(function.regimes.size(), 1u);
  EXPECT_EQ(function.regimes[0].from, Bytes(0));
  EXPECT_EQ(function.regimes[0].to, Bytes(UINT64_MAX));
  EXPECT_NEAR(at(function, 2, 12345), 128.45, 1);
  ASSERT_TRUE(function.held_out);
  EXPECT_LT(function.held_out->mean, 0.01);
  EXPECT_FALSE(function.extrapolation_error);
}

TEST(FitFunction, FindsAJumpAtAPowerOfTwo) {
  const Function function = fit_function(problem_of(
      {2}, kSizes, 0.01, [](int, double d) { return d <= 4096 ? 5 + 0.01 * d : 60 + 0.02 * d; }));
  ASSERT_EQ(function.regimes.size(), 2u);
  EXPECT_EQ(function.regimes[0].to, Bytes(4096));
  EXPECT_EQ(function.regimes[1].from, Bytes(4097));
}

// An algorithm for each of three ranges of sizes, another with each number of ranks, seen at powers
// of four alone: of no use to regimes, which need sizes of their own.
double of_many_algorithms(int p, double d) {
  const double steps = std::log2(p);
  if (d <= 256 * p) return steps * (2 + 0.002 * d);
  if (d <= 16384 * p) return 3 * steps + 0.004 * d;
  return 5 * p + 0.006 * d;
}

TEST(FitFunction, FewSizesOfManyAlgorithmsAreMetWhereTheyWereMeasured) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t d = 1; d <= 1 << 20; d *= 4) sizes.push_back(d);
  const std::vector<int> ranks{4, 16, 64};
  const FunctionProblem problem = problem_of(ranks, sizes, 0.001, of_many_algorithms);
  const Function function = fit_function(problem);
  ASSERT_EQ(function.corrections.size(), ranks.size());
  machine::MachineModel model;
  const auto time = [&](int p, std::uint64_t d) {
    return evaluate_seconds(model, function, p, Bytes(d), Bound::avg);
  };
  for (const int p : ranks)
    for (const std::uint64_t d : sizes)
      EXPECT_NEAR(time(p, d) / of_many_algorithms(p, static_cast<double>(d)), 1, 0.003)
          << p << " ranks, " << d << " bytes";
  // Between them, too: no further away than a step between two of them is high.
  for (const int p : {4, 8, 16, 32, 64})
    for (std::uint64_t d = 2; d <= 1 << 19; d *= 4)
      EXPECT_NEAR(std::log(time(p, d) / of_many_algorithms(p, static_cast<double>(d))), 0, 0.5)
          << p << " ranks, " << d << " bytes";
  const HeldOutErrors errors = hold_out_sizes(problem);
  ASSERT_TRUE(errors.model.error && errors.corrected.error && function.held_out);
  EXPECT_EQ(function.held_out->mean, errors.corrected.error->mean);
  EXPECT_LT(errors.corrected.error->mean, 0.9 * errors.model.error->mean);
  // What was left out lies within the interval: 95 % of it.
  std::size_t within = 0;
  const auto& interval = function.regimes.back().equation.interval;
  ASSERT_TRUE(interval);
  for (const LeftOut& each : errors.corrected.ratios)
    within += each.ratio >= interval->low && each.ratio <= interval->high ? 1 : 0;
  EXPECT_GE(static_cast<double>(within),
            0.93 * static_cast<double>(errors.corrected.ratios.size()));
}

// Where many sizes show what the equation is, it stays.
TEST(FitFunction, ManySizesOfOneAlgorithmHaveNoCorrections) {
  const auto tree = [](int p, double d) { return std::ceil(std::log2(p)) * (5 + 0.01 * d); };
  EXPECT_TRUE(fit_function(problem_of({2, 4, 8}, kSizes, 0.03, tree)).corrections.empty());
  EXPECT_TRUE(fit_function(problem_of({2}, {1, 64, 4096, 65536}, 0.01, [](int, double d) {
                return 5 + 0.01 * d;
              })).corrections.empty());
}

TEST(FitFunction, NothingIsCorrectedThatTakesNoTime) {
  const FunctionProblem problem =
      problem_of({2, 4}, {0, 1, 64, 4096}, 0, [](int p, double) { return p == 2 ? 0.0 : 1.0; });
  EXPECT_FALSE(fit_corrected(problem));
  EXPECT_TRUE(fit_function(problem).corrections.empty());
}

// Of a function to which the ranks are nothing, times with 2 and with 4 ranks are of one curve.
TEST(FitFunction, OneCurveWhereRanksAreNothing) {
  FunctionProblem problem =
      problem_of({2, 4}, {1, 64, 4096}, 0, [](int, double d) { return 10 + 0.01 * d; });
  problem.by_ranks = false;
  const auto curve = fit_corrected(problem);
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->corrections.size(), 1u);
  EXPECT_EQ(curve->corrections[0].ranks, 2);
  EXPECT_EQ(curve->corrections[0].factors.size(), 3u);
}

// An empty message takes a way of its own.
TEST(FitFunction, CorrectedCurvesKeepEmptyMessagesApart) {
  const auto curve = fit_corrected(problem_of(
      {2}, {0, 1, 64, 4096}, 0, [](int, double d) { return d == 0 ? 1.0 : 10 + 0.01 * d; }));
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->regimes.size(), 2u);
  EXPECT_EQ(curve->regimes[0].to, Bytes(0));
  ASSERT_EQ(curve->corrections.size(), 1u);
  for (const machine::SizeFactor& each : curve->corrections[0].factors)
    EXPECT_NEAR(each.factor, 1, 1e-3) << each.bytes.count;
}

// Thresholds that were probed stand to the byte, wherever the sizes lie.
TEST(FitFunction, ThresholdsAreTakenAsTheyAre) {
  FunctionProblem problem = problem_of(
      {2}, kSizes, 0.01, [](int, double d) { return d <= 4040 ? 5 + 0.01 * d : 60 + 0.02 * d; });
  problem.thresholds = {4040, 4040};
  const Function function = fit_function(problem);
  ASSERT_EQ(function.regimes.size(), 2u);
  EXPECT_EQ(function.regimes[0].to, Bytes(4040));
  EXPECT_NEAR(at(function, 2, 4040) / 45.4, 1, 0.02);
  EXPECT_NEAR(at(function, 2, 4041) / 140.82, 1, 0.02);
}

// Thresholds with no measured size between them, or beyond all sizes.
TEST(FitFunction, ThresholdsWithoutSizesAreLeftOut) {
  FunctionProblem problem =
      problem_of({2}, kSizes, 0.01, [](int, double d) { return 5 + 0.01 * d; });
  problem.thresholds = {4500, 4501, 1u << 20, 1u << 30};
  const Function function = fit_function(problem);
  ASSERT_EQ(function.regimes.size(), 2u);
  EXPECT_EQ(function.regimes[0].to, Bytes(4500));
}

TEST(FitFunction, EmptyMessagesStandAlone) {
  std::vector<std::uint64_t> sizes = kSizes;
  sizes.insert(sizes.begin(), 0);
  const Function function = fit_function(
      problem_of({2}, sizes, 0.01, [](int, double d) { return d == 0 ? 1 : 10 + 0.01 * d; }));
  ASSERT_EQ(function.regimes.size(), 2u);
  EXPECT_EQ(function.regimes[0].to, Bytes(0));
  EXPECT_NEAR(at(function, 2, 0), 1, 0.03);
  EXPECT_NEAR(at(function, 2, 1), 10, 0.3);
}

TEST(FitFunction, HeldOutErrorIsThatOfSizesNotSeen) {
  // One size in the middle is far off the line: nothing can predict it.
  const Function function = fit_function(problem_of(
      {2}, kSizes, 0.002, [](int, double d) { return (5 + 0.01 * d) * (d == 4096 ? 1.5 : 1); }));
  ASSERT_TRUE(function.held_out);
  EXPECT_NEAR(function.held_out->max, 1 - 1 / 1.5, 0.05);
}

TEST(FitFunction, BaselineErrsWhereItsFormDoes) {
  // A kink: no jump, so the pieces meet; the baseline's lines are free.
  const Truth kink = [](int, double d) { return 5 + 0.001 * d + 0.02 * std::max(0.0, d - 2048); };
  const Function function = fit_function(problem_of({2}, kSizes, 0.005, kink));
  ASSERT_EQ(function.baseline.size(), function.regimes.size());
  for (std::size_t i = 0; i < function.baseline.size(); ++i) {
    EXPECT_TRUE(function.baseline[i].equation.is_papers_form());
    EXPECT_EQ(function.baseline[i].from, function.regimes[i].from);
    EXPECT_EQ(function.baseline[i].to, function.regimes[i].to);
    EXPECT_TRUE(function.baseline[i].chi_squared);
  }
  ASSERT_TRUE(function.baseline_held_out);
  EXPECT_GT(function.baseline_held_out->max, 0);
  EXPECT_LT(function.held_out->mean, 0.02);
}

TEST(FitFunction, LeavingOutTheLargestRanksTellsWhatExtrapolationIsWorth) {
  const Truth tree = [](int p, double d) { return std::ceil(std::log2(p)) * (2 + 0.001 * d); };
  const Function good = fit_function(problem_of({2, 4, 8, 16}, sizes_to(4096), 0.01, tree));
  ASSERT_TRUE(good.extrapolation_error);
  EXPECT_LT(*good.extrapolation_error, 0.1);
  // At 16 ranks another algorithm, three times as slow.
  const Function bad =
      fit_function(problem_of({2, 4, 8, 16}, sizes_to(4096), 0.01,
                              [&](int p, double d) { return tree(p, d) * (p == 16 ? 3 : 1); }));
  ASSERT_TRUE(bad.extrapolation_error);
  EXPECT_NEAR(*bad.extrapolation_error, 2, 0.2);
  EXPECT_FALSE(fit_function(problem_of({2, 4}, sizes_to(4096), 0.01, tree)).extrapolation_error);
}

TEST(FitFunction, TwoSizesHaveNoHeldOutError) {
  const Function function =
      fit_function(problem_of({2}, {8, 16}, 0.01, [](int, double d) { return d; }));
  EXPECT_EQ(function.regimes.size(), 1u);
  EXPECT_FALSE(function.held_out);
  EXPECT_FALSE(function.baseline_held_out);
}

TEST(FitRegimes, NoTimeIsNoneBelowTheFirstSizeOfARegime) {
  // 0.15 up to 4096; from 16384 on 3.2e-5 d - 0.362, which is 0 at 11312 and below.
  FunctionProblem problem;
  problem.by_ranks = false;
  for (std::size_t launch = 0; launch < 5; ++launch)
    for (std::uint64_t d = 1; d <= 4194304; d *= 4)
      problem.observations.push_back(
          {2, d, launch, d <= 4096 ? 0.15 : 3.2e-5 * static_cast<double>(d) - 0.362});
  const std::vector<machine::Regime> regimes = fit_regimes(problem);
  for (const std::uint64_t d : {4097, 6000, 8192, 11000, 14000, 16383})
    EXPECT_GT(machine::regime_for(regimes, Bytes(d))
                  .equation.evaluate(2, static_cast<double>(d), machine::Bound::avg),
              0.07)
        << d;
  // Where it was measured nothing changes.
  EXPECT_NEAR(
      machine::regime_for(regimes, Bytes(65536)).equation.evaluate(2, 65536, machine::Bound::avg),
      3.2e-5 * 65536 - 0.362, 1e-6);
}

TEST(WidenIntervals, HoldTheShareOfWhatWasLeftOut) {
  // 101 ratios 0.50, 0.51, ... 1.50 of the first regime, 10 of 3 in the second.
  std::vector<LeftOut> ratios;
  for (std::uint64_t i = 0; i <= 100; ++i)
    ratios.push_back({10 + i % 4, 0, 0.5 + 0.01 * static_cast<double>(i)});
  for (int i = 0; i < 10; ++i) ratios.push_back({1000, 0, 3.0});
  std::vector<machine::Regime> regimes(3);
  regimes[0].to = Bytes(100);
  regimes[1].from = Bytes(101);
  regimes[1].to = Bytes(5000);
  regimes[2].from = Bytes(5001);
  regimes[0].equation.interval = machine::PredictionInterval{0.99, 1.01, 0.9};
  regimes[1].equation.interval = machine::PredictionInterval{0.2, 1.01, 0.9};
  widen_intervals(ratios, 0.9, regimes);
  // The quantiles of 5 and 95 %: places 5 and 95 of 0 to 100.
  EXPECT_NEAR(regimes[0].equation.interval->low, 0.55, 1e-12);
  EXPECT_NEAR(regimes[0].equation.interval->high, 1.45, 1e-12);
  // Too few of its own: of all 111, places 5.5 and 104.5, and never narrower.
  EXPECT_EQ(regimes[1].equation.interval->low, 0.2);
  EXPECT_NEAR(regimes[1].equation.interval->high, 3, 1e-12);
  EXPECT_FALSE(regimes[2].equation.interval) << "one launch has none";
}

TEST(WidenIntervals, FewLaunchesSayLittleOfTheNext) {
  // Three launches at 0.9, 1 and 1.1, whose deviation is 0.1.
  std::vector<LeftOut> ratios;
  for (std::uint64_t i = 0; i < 30; ++i)
    ratios.push_back({10 + i % 5, i % 3, 0.9 + 0.1 * static_cast<double>(i % 3)});
  std::vector<machine::Regime> regimes(1);
  regimes[0].equation.interval = machine::PredictionInterval{1, 1, 0.95};
  widen_intervals(ratios, 0.95, regimes);
  // Of two degrees of freedom 4.3027 sqrt(4/3) deviations in place of 1.9600, and 0.1 that is seen.
  const double half = std::sqrt(0.01 + 0.01 * (4.3027 * 4.3027 * 4 / 3 - 1.96 * 1.96));
  EXPECT_NEAR(regimes[0].equation.interval->low, 1 - half, 1e-4);
  EXPECT_NEAR(regimes[0].equation.interval->high, 1 + half, 1e-4);
}

TEST(BoundaryBetween, PrefersPowersOfTwo) {
  EXPECT_EQ(boundary_between(256, 362), 256u);
  EXPECT_EQ(boundary_between(181, 256), 255u);
  EXPECT_EQ(boundary_between(4040, 4041), 4040u);
  EXPECT_EQ(boundary_between(90, 110), 99u);  // sqrt(9900) = 99.5
  EXPECT_EQ(boundary_between(0, 1), 0u);
  EXPECT_EQ(boundary_between(52016, 65536), 65535u);
  EXPECT_EQ(boundary_between(104032, 131072), 116771u);  // sqrt(104032 * 131072) = 116771.9
}

// Times of next to nothing, as of what can hardly be hidden: breaks lie anywhere, two of them
// between two sizes now and then.
TEST(FitRegimes, NoneIsEmptyWhateverTheTimes) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> time(-7, 2.5);
  for (int run = 0; run < 300; ++run) {
    FunctionProblem problem;
    problem.by_ranks = false;
    problem.negligible = 0.019;
    problem.thresholds = {256, 4040};
    for (const std::uint64_t bytes :
         {0,  1,   3,   4,   8,   9,   10,  11,  16,  23,  24,  30,   31,   37,   38,   64,   88,
          89, 120, 121, 152, 153, 199, 200, 256, 257, 548, 549, 1024, 2025, 2026, 4040, 4041, 4096})
      for (std::size_t launch = 0; launch < 3; ++launch)
        problem.observations.push_back({2, bytes, launch, time(random)});
    std::uint64_t next = 0;
    for (const machine::Regime& regime : fit_regimes(problem)) {
      EXPECT_EQ(regime.from.count, next) << run;
      EXPECT_GE(regime.to, regime.from) << run;
      next = regime.to.count + 1;
    }
    EXPECT_EQ(next, 0U) << "the last one has no end";
  }
}

}  // namespace
}  // namespace foretrace::measure
