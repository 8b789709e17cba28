#include "measure/fit/regimes.hpp"

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

const std::vector<std::uint64_t> kRegimeSizes{1,  2,  3,  4,  6,   8,   11,  16,  23,
                                              32, 45, 64, 91, 128, 181, 256, 362, 512};

TEST(FitRegime, PointToPointIsALineInTheSize) {
  const auto problem = by_size(kRegimeSizes, [](double d) { return 30 + 0.5 * d; });
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

TEST(FitRegime, TellsChiSquared) {
  // Off by one standard error each, up and down about the mean.
  RegimeProblem problem;
  problem.by_ranks = false;
  for (const double time : {9.0, 11.0, 9.0, 11.0}) problem.points.push_back({2, 8, time, 1});
  const Regime regime = fit_regime(problem, Bytes(0), Bytes(8));
  EXPECT_NEAR(regime.chi_squared.value(), 4, 1e-12);
  EXPECT_EQ(regime.degrees_of_freedom, 3);
  EXPECT_NEAR(regime.equation.constant.value, 10, 1e-12);
}

}  // namespace
}  // namespace foretrace::measure
