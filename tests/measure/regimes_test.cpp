#include "measure/regimes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrace::measure {
namespace {

using machine::DataForm;
using machine::Regime;
using machine::StartupForm;

// Points of t(d) with sigma 1 % of t.
template <class Function>
RegimeProblem by_size(const std::vector<std::uint64_t>& sizes, Function t) {
  RegimeProblem problem;
  problem.by_ranks = false;
  for (std::uint64_t size : sizes) {
    const double time = t(static_cast<double>(size));
    problem.points.push_back({2, size, time, 0.01 * time});
  }
  return problem;
}

const std::vector<std::uint64_t> kSizes{1,  2,  3,  4,  6,   8,   11,  16,  23,
                                        32, 45, 64, 91, 128, 181, 256, 362, 512};

TEST(FitRegime, PointToPointIsALineInTheSize) {
  const auto problem = by_size(kSizes, [](double d) { return 30 + 0.5 * d; });
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(1000));
  EXPECT_NEAR(regime.equation.constant.value, 30, 1e-10);
  EXPECT_NEAR(regime.equation.data.value, 0.5, 1e-12);
  EXPECT_EQ(regime.equation.data_form, DataForm::d);
  EXPECT_EQ(regime.equation.startup.value, 0);
  EXPECT_NEAR(*regime.residual, 0, 1e-10);
  EXPECT_NEAR(*regime.q, 1, 1e-9);
}

TEST(FitRegime, FindsEachOfTheTwelveForms) {
  for (StartupForm startup : machine::kStartupForms) {
    for (DataForm data : machine::kDataForms) {
      RegimeProblem problem;
      for (double p : {2, 4, 8, 16, 32})
        for (std::uint64_t d : {1, 10, 100, 1000}) {
          const double time =
              10 + 3 * evaluate(startup, p) + 0.25 * evaluate(data, p, static_cast<double>(d));
          problem.points.push_back({p, d, time, 0.03 * time});
        }
      const Regime regime = fit_regime(problem, Bytes(0), Bytes(UINT64_MAX));
      EXPECT_EQ(name_of(regime.equation.startup_form), name_of(startup));
      EXPECT_EQ(name_of(regime.equation.data_form), name_of(data));
      EXPECT_NEAR(regime.equation.constant.value, 10, 1e-8);
      EXPECT_NEAR(regime.equation.startup.value, 3, 1e-8);
      EXPECT_NEAR(regime.equation.data.value, 0.25, 1e-10);
    }
  }
}

TEST(FitRegime, BarrierHasAStartUpOnly) {
  // The Cray T3D's: 10 + 8 ln p microseconds.
  RegimeProblem problem;
  for (double p : {2, 4, 8, 16}) problem.points.push_back({p, 0, 10 + 8 * std::log(p), 0.1});
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(UINT64_MAX));
  EXPECT_EQ(regime.equation.startup_form, StartupForm::ln_p);
  EXPECT_NEAR(regime.equation.startup.value, 8, 1e-10);
  EXPECT_EQ(regime.equation.data.value, 0);
}

TEST(FitRegime, OneNumberOfRanksTellsNothingOfRanks) {
  RegimeProblem problem;
  for (std::uint64_t d : {8, 16, 24})
    problem.points.push_back({2, d, 5 + static_cast<double>(d), 0.1});
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(100));
  EXPECT_NEAR(regime.equation.constant.value, 5, 1e-12);
  EXPECT_EQ(regime.equation.startup.value, 0);
  EXPECT_EQ(regime.equation.data_form, DataForm::d);
  EXPECT_NEAR(regime.equation.data.value, 1, 1e-12);
}

TEST(FitRegime, OnePointIsAConstantWithoutQ) {
  RegimeProblem problem;
  problem.points.push_back({2, 8, 5, 0.5});
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(100));
  EXPECT_NEAR(regime.equation.constant.value, 5, 1e-14);
  EXPECT_NEAR(regime.equation.constant.error, 0.5, 1e-14);
  EXPECT_FALSE(regime.q.has_value());
}

TEST(FitRegime, TimesThatFallWithTheSizeGiveAConstant) {
  RegimeProblem problem;
  problem.by_ranks = false;
  for (std::uint64_t d : {1, 2, 3}) problem.points.push_back({2, d, 9 - static_cast<double>(d), 1});
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(3));
  EXPECT_NEAR(regime.equation.constant.value, 7, 1e-12);  // the mean of 8, 7, 6
  EXPECT_EQ(regime.equation.data.value, 0);
}

TEST(GivenRegimes, AreContiguousAndEndWhereTold) {
  const auto problem = by_size(kSizes, [](double d) { return d <= 32 ? 1 + d : 100 + 0.1 * d; });
  const auto regimes = fit_given_regimes(problem, {32, 128});
  ASSERT_EQ(regimes.size(), 3u);
  EXPECT_EQ(regimes[0].from, Bytes(0));
  EXPECT_EQ(regimes[0].to, Bytes(32));
  EXPECT_EQ(regimes[1].from, Bytes(33));
  EXPECT_EQ(regimes[1].to, Bytes(128));
  EXPECT_EQ(regimes[2].from, Bytes(129));
  EXPECT_EQ(regimes[2].to, Bytes(UINT64_MAX));
  // The point at 32 belongs to the lower regime, which is exact with it.
  EXPECT_NEAR(regimes[0].equation.constant.value, 1, 1e-10);
  EXPECT_NEAR(regimes[1].equation.constant.value, 100, 1e-8);
}

TEST(GivenRegimes, WithTooFewSizesAreMerged) {
  const auto problem = by_size({1, 2, 4, 8, 16, 32}, [](double d) { return 1 + d; });
  // Below 2: two sizes. 3..8: with them four. Above 8: two again.
  const auto regimes = fit_given_regimes(problem, {2, 8});
  ASSERT_EQ(regimes.size(), 1u);
  EXPECT_EQ(regimes[0].to, Bytes(UINT64_MAX));

  const auto two = fit_given_regimes(problem, {2, 4});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].to, Bytes(4));
}

TEST(BestRegimes, OneLineIsOneRegime) {
  const auto regimes = fit_best_regimes(by_size(kSizes, [](double d) { return 5 + d; }), 8);
  EXPECT_EQ(regimes.size(), 1u);
}

TEST(BestRegimes, FindsAJump) {
  // Eager up to 64 bytes, then a rendezvous.
  const auto problem = by_size(kSizes, [](double d) { return d <= 64 ? 5 + d : 300 + 2 * d; });
  const auto regimes = fit_best_regimes(problem, 8);
  ASSERT_EQ(regimes.size(), 2u);
  EXPECT_EQ(regimes[0].to, Bytes(64));  // a power of two at the lower end of 64..91
  EXPECT_EQ(regimes[1].from, Bytes(65));
  EXPECT_NEAR(regimes[0].equation.data.value, 1, 1e-9);
  EXPECT_NEAR(regimes[1].equation.constant.value, 300, 1e-7);
}

TEST(BestRegimes, AnEmptyMessageMayStandAlone) {
  std::vector<std::uint64_t> sizes = kSizes;
  sizes.insert(sizes.begin(), 0);
  const auto problem = by_size(sizes, [](double d) { return d == 0 ? 1 : 10 + d; });
  const auto regimes = fit_best_regimes(problem, 8);
  ASSERT_EQ(regimes.size(), 2u);
  EXPECT_EQ(regimes[0].to, Bytes(0));
  EXPECT_NEAR(regimes[0].equation.constant.value, 1, 1e-12);
}

TEST(BestRegimes, NeverMoreThanAllowed) {
  const auto problem = by_size(kSizes, [](double d) { return 1 + d * d; });
  EXPECT_LE(fit_best_regimes(problem, 2).size(), 2u);
  EXPECT_EQ(fit_best_regimes(problem, 1).size(), 1u);
}

TEST(BoundaryBetween, PrefersPowersOfTwo) {
  EXPECT_EQ(boundary_between(256, 362), 256u);
  EXPECT_EQ(boundary_between(181, 256), 255u);
  EXPECT_EQ(boundary_between(4040, 4041), 4040u);
  EXPECT_EQ(boundary_between(90, 110), 99u);  // sqrt(9900) = 99.5
  EXPECT_EQ(boundary_between(0, 1), 0u);
}

}  // namespace
}  // namespace foretrace::measure
