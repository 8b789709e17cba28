// Equations and regimes: t(p,d) = c + s*f(p) + k*g(p,d).
#include "machine/equation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

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

TEST(Factor, IsWhatItsNameSays) {
  EXPECT_DOUBLE_EQ(evaluate(Factor::one, 5, 7), 1);
  EXPECT_DOUBLE_EQ(evaluate(Factor::ceil_log2_p, 5, 7), 3);
  EXPECT_DOUBLE_EQ(evaluate(Factor::ceil_log2_p, 8, 7), 3);
  EXPECT_DOUBLE_EQ(evaluate(Factor::ceil_log2_p, 1, 7), 0);
  EXPECT_DOUBLE_EQ(evaluate(Factor::p_minus_1, 5, 7), 4);
  EXPECT_DOUBLE_EQ(evaluate(Factor::share, 5, 7), 0.8);
  EXPECT_DOUBLE_EQ(evaluate(Factor::ceil_log2_p_d, 5, 7), 21);
  EXPECT_DOUBLE_EQ(evaluate(Factor::share_d, 5, 7), 5.6);
  EXPECT_DOUBLE_EQ(evaluate(Factor::p_minus_1_d, 5, 7), 28);
  for (const StartupForm form : kStartupForms) {
    EXPECT_EQ(name_of(factor_of(form)), name_of(form));
    EXPECT_EQ(evaluate(factor_of(form), 5, 7), evaluate(form, 5));
  }
  for (const DataForm form : kDataForms) {
    EXPECT_EQ(name_of(factor_of(form)), name_of(form));
    EXPECT_EQ(evaluate(factor_of(form), 5, 7), evaluate(form, 5, 7));
  }
}

TEST(Factor, NamesAreToldApart) {
  for (const Factor factor : kFactors) {
    EXPECT_EQ(parse_factor(name_of(factor)), factor);
    const bool by_ranks = evaluate(factor, 2, 1) != evaluate(factor, 5, 1);
    EXPECT_EQ(depends_on_ranks(factor), by_ranks) << name_of(factor);
    const bool by_data = evaluate(factor, 5, 1) != evaluate(factor, 5, 2);
    EXPECT_EQ(depends_on_data(factor), by_data) << name_of(factor);
  }
  EXPECT_FALSE(parse_factor(""));
  EXPECT_FALSE(parse_factor("log2 p"));
}

// 2 + 3 ceil log2 p + 0.5 (p-1)/p d; p = 5, d = 10: 2 + 9 + 4 = 15, with errors
// 1, 0 and 0.25: 1 + 9 + 2 = 12 and 3 + 9 + 6 = 18.
Equation sum_of_terms() {
  Equation equation;
  equation.terms = {
      {Factor::one, {2, 1}}, {Factor::ceil_log2_p, {3, 0}}, {Factor::share_d, {0.5, 0.25}}};
  return equation;
}

TEST(Terms, AreAdded) {
  const Equation equation = sum_of_terms();
  EXPECT_FALSE(equation.is_papers_form());
  EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::avg), 15);
  EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::min), 12);
  EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::max), 18);
}

TEST(Terms, OthersHoldWherePIsNoPowerOfTwo) {
  Equation equation = sum_of_terms();
  equation.other_terms = {{Factor::p_minus_1, {7, 0}}};
  for (const int p : {1, 2, 4, 1024, 1 << 26})
    EXPECT_EQ(equation.evaluate(p, 10, Bound::avg), sum_of_terms().evaluate(p, 10, Bound::avg));
  for (const int p : {3, 5, 6, 1023, (1 << 26) - 1})
    EXPECT_DOUBLE_EQ(equation.evaluate(p, 10, Bound::avg), 7.0 * (p - 1));
}

TEST(Terms, NegativeSumTakesNoTime) {
  Equation equation;
  equation.terms = {{Factor::one, {1, 0}}, {Factor::d, {-1, 0}}};
  EXPECT_EQ(equation.evaluate(2, 5, Bound::avg), 0);
}

// The interval is relative to the time, whatever the coefficients' errors.
TEST(Terms, IntervalIsMinAndMax) {
  Equation constant;
  constant.constant = {15, 4};
  for (Equation equation : {sum_of_terms(), constant}) {
    equation.interval = {0.8, 1.5, 0.95};
    EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::min), 12);
    EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::avg), 15);
    EXPECT_DOUBLE_EQ(equation.evaluate(5, 10, Bound::max), 22.5);
  }
}

std::string walked(const Equation& equation) {
  std::string out;
  for (const TermSum& sum : equation.sums()) {
    out += sum.ranks == RankSet::all ? "all:" : sum.ranks == RankSet::others ? "others:" : "2^n:";
    for (const Term& term : sum.terms)
      out += " " + std::to_string(static_cast<int>(term.coefficient.value)) + "*" +
             std::string(name_of(term.factor));
    out += "\n";
  }
  return out;
}

TEST(Terms, EveryEquationIsWalkedAlike) {
  EXPECT_EQ(walked({{1, 0}, StartupForm::ln_p, {2, 0}, DataForm::p2_d, {3, 0}}),
            "all: 1*1 2*ln p 3*p^2 d\n");
  EXPECT_EQ(walked({{0, 0}, StartupForm::ln_p, {0, 0}, DataForm::p2_d, {3, 0}}), "all: 3*p^2 d\n");
  EXPECT_EQ(walked({}), "all:\n");
  Equation equation;
  equation.terms = {{Factor::one, {2, 0}}, {Factor::p, {0, 0}}, {Factor::d, {3, 0}}};
  EXPECT_EQ(walked(equation), "all: 2*1 3*d\n");
  equation.other_terms = {{Factor::p_minus_1, {7, 0}}};
  EXPECT_EQ(walked(equation), "2^n: 2*1 3*d\nothers: 7*(p-1)\n");
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
  EXPECT_DOUBLE_EQ(evaluate_seconds(model, {"send", "", "", {regime}}, 2, Bytes(12), Bound::avg),
                   7e-6);
}

MachineModel model_with_ranges() {
  MachineModel model;
  model.ranks = 16;
  Function bcast{
      "bcast", "collective", "", {constant_regime(0, 1000, 8), constant_regime(1001, 5000, 10)}};
  bcast.measured = MeasuredRange{{2, 4, 8}, Bytes(1), Bytes(4000)};
  bcast.extrapolation_error = 0.25;
  for (Regime& regime : bcast.regimes) regime.equation.interval = {0.9, 1.1, 0.95};
  bcast.baseline = {constant_regime(0, UINT64_MAX, 9)};
  model.functions["bcast"] = bcast;
  model.functions["send"] = bcast;
  model.functions["send"].function_class = "point-to-point";
  model.functions["old"] = {"old", "collective", "", {constant_regime(1, 1000, 8)}};
  return model;
}

TEST(Extrapolation, IsWhatWasNotMeasured) {
  const MachineModel model = model_with_ranges();
  const auto beyond = [&](const char* function, int ranks, std::uint64_t bytes) {
    const Beyond b = beyond_measured(model, *model.find(function), ranks, Bytes(bytes));
    EXPECT_EQ(b.any(), b.ranks || b.bytes);
    return std::pair(b.ranks, b.bytes);
  };
  EXPECT_EQ(beyond("bcast", 2, 1), std::pair(false, false));
  EXPECT_EQ(beyond("bcast", 8, 4000), std::pair(false, false));
  EXPECT_EQ(beyond("bcast", 1, 4000), std::pair(true, false));
  EXPECT_EQ(beyond("bcast", 9, 0), std::pair(true, true));
  EXPECT_EQ(beyond("bcast", 8, 4001), std::pair(false, true));
  // A pair of ranks is the same among many.
  EXPECT_EQ(beyond("send", 100, 1), std::pair(false, false));
  // A file that does not say.
  EXPECT_EQ(beyond("old", 16, 1000), std::pair(false, false));
  EXPECT_EQ(beyond("old", 17, 1001), std::pair(true, true));
}

TEST(Extrapolation, WidensTheBounds) {
  const MachineModel model = model_with_ranges();
  const auto at = [&](const char* function, int ranks, Bound bound) {
    return evaluate_seconds(model, *model.find(function), ranks, Bytes(10), bound);
  };
  EXPECT_DOUBLE_EQ(at("bcast", 8, Bound::min), 7.2);
  EXPECT_DOUBLE_EQ(at("bcast", 8, Bound::max), 8.8);
  EXPECT_DOUBLE_EQ(at("bcast", 9, Bound::min), 6.4);
  EXPECT_DOUBLE_EQ(at("bcast", 9, Bound::avg), 8);
  EXPECT_DOUBLE_EQ(at("bcast", 9, Bound::max), 10);
  EXPECT_DOUBLE_EQ(at("send", 9, Bound::max), 8.8);
}

TEST(Baseline, IsEvaluatedApart) {
  const MachineModel model = model_with_ranges();
  EXPECT_EQ(evaluate_baseline_seconds(model, *model.find("bcast"), 2, Bytes(10), Bound::avg), 9);
}

}  // namespace
}  // namespace foretrace::machine
