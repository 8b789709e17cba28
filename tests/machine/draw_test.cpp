#include "machine/draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace foretrace::machine {
namespace {

MachineModel model_with(const Equation& equation) {
  MachineModel model;
  Regime regime;
  regime.equation = equation;
  model.functions["send"] = {"send", "", "", {regime}};
  model.functions["recv"] = {"recv", "", "", {regime}};
  return model;
}

double seconds_of_two(const MachineModel& model, const char* name, std::uint64_t bytes) {
  return evaluate_seconds(model, *model.find(name), 2, Bytes(bytes), Bound::avg);
}

std::vector<double> draws(const MachineModel& model, std::uint64_t bytes, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i)
    times.push_back(
        seconds_of_two(draw_model(model, 7, static_cast<std::uint64_t>(i)), "send", bytes));
  std::ranges::sort(times);
  return times;
}

// 10 s with a standard error of 1 s: 68.3 % are within 9 to 11, the mean is 10.
TEST(Draw, CoefficientsMoveByTheirErrors) {
  Equation equation;
  equation.constant = {10, 1};
  const std::vector<double> times = draws(model_with(equation), 8, 4000);
  double sum = 0;
  for (const double time : times) sum += time;
  EXPECT_NEAR(sum / 4000, 10, 0.06);
  const auto within =
      std::ranges::count_if(times, [](double time) { return std::abs(time - 10) <= 1; });
  EXPECT_NEAR(static_cast<double>(within) / 4000, 0.683, 0.03);
}

// An interval of 90 % from 0.8 to 1.5 times holds 90 %: 5 % are below it, 5 % above.
TEST(Draw, AnIntervalHoldsItsShare) {
  Equation equation;
  equation.constant = {10, 0};
  equation.interval = PredictionInterval{0.8, 1.5, 0.9};
  const std::vector<double> times = draws(model_with(equation), 8, 4000);
  EXPECT_NEAR(times[200], 8, 0.15);
  EXPECT_NEAR(times[2000], 10, 0.15);
  EXPECT_NEAR(times[3800], 15, 0.4);
}

// One number for a function, whatever the size; another for another function.
TEST(Draw, OneNumberForAFunction) {
  Equation equation;
  equation.constant = {10, 0};
  equation.data = {1, 0};
  equation.interval = PredictionInterval{0.5, 2, 0.95};
  const MachineModel model = model_with(equation);
  const MachineModel drawn = draw_model(model, 1, 3);
  const double small = seconds_of_two(drawn, "send", 0) / seconds_of_two(model, "send", 0);
  EXPECT_NEAR(seconds_of_two(drawn, "send", 1000) / seconds_of_two(model, "send", 1000), small,
              1e-12);
  EXPECT_NE(small, 1);
  EXPECT_NE(seconds_of_two(drawn, "recv", 0), seconds_of_two(drawn, "send", 0));
  EXPECT_EQ(seconds_of_two(draw_model(model, 1, 3), "send", 0), seconds_of_two(drawn, "send", 0));
  EXPECT_NE(seconds_of_two(draw_model(model, 2, 3), "send", 0), seconds_of_two(drawn, "send", 0));
}

TEST(Draw, WithoutErrorsNothingMoves) {
  Equation equation;
  equation.constant = {10, 0};
  const MachineModel model = model_with(equation);
  EXPECT_EQ(seconds_of_two(draw_model(model, 1, 1), "send", 8), 10);
}

// Three times as slow in the other state, in which it was a third of the time.
TEST(Draw, TheOtherState) {
  Equation equation;
  equation.constant = {10, 0};
  MachineModel model = model_with(equation);
  model.functions["send"].regimes[0].other_state = 3;
  EXPECT_EQ(draws(model, 8, 100).back(), 10);
  model.other_state_share = 1.0 / 3;
  const std::vector<double> times = draws(model, 8, 4000);
  EXPECT_EQ(times.front(), 10);
  EXPECT_EQ(times.back(), 30);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(times, 30.0)), 1333, 100);
  const auto slow_ones = [&](double share) {
    model.other_state_share = share;
    return static_cast<double>(std::ranges::count(draws(model, 8, 4000), 30.0));
  };
  EXPECT_NEAR(slow_ones(0.03), 1000, 100);
  EXPECT_NEAR(slow_ones(0.95), 3000, 100);
  EXPECT_EQ(slow_ones(0.019), 0);
  model.other_state_share = 0.5;
  // One draw is of one state, of which recv knows nothing.
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(seconds_of_two(draw_model(model, 7, i), "recv", 8), 10);
}

}  // namespace
}  // namespace foretrace::machine
