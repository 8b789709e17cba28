// Equations and regimes: t(p,d) = c + s*f(p) + k*g(p,d).
#include "machine/equation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "machine/machine_model.hpp"

namespace foretrace::machine {
namespace {

TEST(StartupForm, GrowsWithTheRanks) {
  EXPECT_DOUBLE_EQ(evaluate(StartupForm::p, 5), 5);
  EXPECT_DOUBLE_EQ(evaluate(StartupForm::ln_p, 5), std::log(5.0));
  EXPECT_DOUBLE_EQ(evaluate(StartupForm::p2, 5), 25);
  EXPECT_DOUBLE_EQ(evaluate(StartupForm::ln_p, 1), 0);
}

TEST(DataForm, GrowsWithRanksAndData) {
  EXPECT_DOUBLE_EQ(evaluate(DataForm::d, 5, 7), 7);
  EXPECT_DOUBLE_EQ(evaluate(DataForm::p_d, 5, 7), 35);
  EXPECT_DOUBLE_EQ(evaluate(DataForm::ln_p_d, 5, 7), 7 * std::log(5.0));
  EXPECT_DOUBLE_EQ(evaluate(DataForm::p2_d, 5, 7), 175);
  EXPECT_DOUBLE_EQ(evaluate(DataForm::ln_p_d, 1, 7), 0);
}

TEST(Forms, HaveTheNamesOfTheFile) {
  for (const StartupForm form : kStartupForms) EXPECT_EQ(parse_startup_form(name_of(form)), form);
  for (const DataForm form : kDataForms) EXPECT_EQ(parse_data_form(name_of(form)), form);
  EXPECT_EQ(name_of(StartupForm::ln_p), "ln p");
  EXPECT_EQ(name_of(DataForm::p2_d), "p^2 d");
  EXPECT_FALSE(parse_startup_form("d"));
  EXPECT_FALSE(parse_startup_form("log p"));
  EXPECT_FALSE(parse_data_form("p^2"));
  EXPECT_FALSE(parse_data_form(""));
}

// c = 10 +- 1, s = 2 +- 0.5 on p^2, k = 3 +- 0.25 on p d; p = 4, d = 5:
//   avg 10 + 2 * 16 + 3 * 20       = 102
//   min  9 + 1.5 * 16 + 2.75 * 20  =  88
//   max 11 + 2.5 * 16 + 3.25 * 20  = 116
TEST(Equation, TakesTheBoundOfEveryCoefficient) {
  const Equation equation{{10, 1}, StartupForm::p2, {2, 0.5}, DataForm::p_d, {3, 0.25}};
  EXPECT_DOUBLE_EQ(equation.evaluate(4, 5, Bound::avg), 102);
  EXPECT_DOUBLE_EQ(equation.evaluate(4, 5, Bound::min), 88);
  EXPECT_DOUBLE_EQ(equation.evaluate(4, 5, Bound::max), 116);
}

TEST(Equation, AddsEachPairOfForms) {
  for (const StartupForm f : kStartupForms)
    for (const DataForm g : kDataForms) {
      const Equation equation{{1, 0}, f, {10, 0}, g, {100, 0}};
      EXPECT_DOUBLE_EQ(equation.evaluate(3, 2, Bound::avg),
                       1 + 10 * evaluate(f, 3) + 100 * evaluate(g, 3, 2))
          << name_of(f) << ", " << name_of(g);
    }
}

// A fitted line may cross zero: 5 - 2 p at p = 3 is -1. Its lower bound is
// below zero earlier: (5 - 4) - 2 = -1 at p = 1.
TEST(Equation, IsNeverNegative) {
  const Equation equation{{5, 4}, StartupForm::p, {-2, 0}, DataForm::d, {0, 0}};
  EXPECT_EQ(equation.evaluate(3, 0, Bound::avg), 0);
  EXPECT_EQ(equation.evaluate(1, 0, Bound::min), 0);
  EXPECT_EQ(equation.evaluate(1, 0, Bound::avg), 3);
}

Regime constant_regime(std::uint64_t from, std::uint64_t to, double seconds) {
  Regime regime;
  regime.from = Bytes(from);
  regime.to = Bytes(to);
  regime.equation.constant.value = seconds;
  return regime;
}

class Regimes : public testing::Test {
 protected:
  double at(std::uint64_t bytes) const {
    return evaluate_seconds(model_, function_, 2, Bytes(bytes), Bound::avg);
  }
  MachineModel model_;
  Function function_{
      "send",
      "",
      {constant_regime(0, 99, 1), constant_regime(100, 100, 2), constant_regime(101, 500, 3)}};
};

TEST_F(Regimes, IncludeBothEnds) {
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(99), 1);
  EXPECT_EQ(at(100), 2);
  EXPECT_EQ(at(101), 3);
  EXPECT_EQ(at(500), 3);
}

TEST_F(Regimes, TheLastOneHoldsAllBeyond) {
  EXPECT_EQ(at(501), 3);
  EXPECT_EQ(at(UINT64_MAX), 3);
}

TEST_F(Regimes, TheFirstOneHoldsAllBelow) {
  function_.regimes = {constant_regime(10, 20, 7), constant_regime(21, 30, 8)};
  EXPECT_EQ(at(0), 7);
}

// d counts elements: 12 bytes are 1.5 elements of 8; 4 us + 2 us * 1.5 = 7 us.
TEST(EvaluateSeconds, AppliesBothUnits) {
  MachineModel model;
  model.time_unit = 1e-6;
  model.element = Bytes(8);
  Regime regime;
  regime.equation.constant.value = 4;
  regime.equation.data.value = 2;
  EXPECT_DOUBLE_EQ(evaluate_seconds(model, {"send", "", {regime}}, 2, Bytes(12), Bound::avg), 7e-6);
}

}  // namespace
}  // namespace foretrace::machine
