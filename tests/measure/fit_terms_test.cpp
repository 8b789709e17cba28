// Which terms, and how large: from times that are known.
#include "measure/fit/terms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "synthetic.hpp"

namespace foretrace::measure {
namespace {

using machine::Bound;
using machine::Equation;
using machine::Factor;

using Truth = std::function<double(int, double)>;

RunProblem run_problem(const std::vector<int>& ranks, const std::vector<std::uint64_t>& sizes,
                       const Truth& time, double deviation, int launches = 5) {
  RunProblem problem;
  problem.begins = {static_cast<double>(sizes.front())};
  Noise noise(42);
  for (int launch = 0; launch < launches; ++launch) {
    const double level = noise.factor(deviation);
    for (const int p : ranks)
      for (const std::uint64_t d : sizes)
        problem.observations.push_back(
            {p, d, static_cast<std::size_t>(launch),
             time(p, static_cast<double>(d)) * level * noise.factor(deviation)});
  }
  return problem;
}

const std::vector<std::uint64_t> kTermSizes = sizes_to(1 << 16);
const std::vector<int> kPowers{2, 4, 8, 16, 32};

std::string names(const std::vector<machine::Term>& terms) {
  std::string out;
  for (const machine::Term& term : terms) out += "[" + std::string(name_of(term.factor)) + "]";
  return out;
}

void expect_times(const Equation& equation, const std::vector<int>& ranks, const Truth& time,
                  double tolerance) {
  for (const int p : ranks)
    for (const double d : {1.0, 700.0, 50000.0})
      EXPECT_NEAR(equation.evaluate(p, d, Bound::avg) / time(p, d), 1, tolerance)
          << "p=" << p << " d=" << d;
}

// A step of a percent between two sizes next to each other is no slope that leads to sizes
// further away; over sizes that differ it is.
TEST(FitTerms, SizesThatHardlyDifferHaveNoSlope) {
  const Truth step = [](int, double d) { return d > 3842 ? 1.02 : 1.0; };
  for (const std::vector<int>& ranks : {std::vector<int>{2}, std::vector<int>{2, 4, 8}})
    EXPECT_NEAR(fit_terms(run_problem(ranks, {3842, 3843}, step, 0.001))
                    .at(0)
                    .evaluate(2, 4040, Bound::avg),
                1, 0.03);
  const Truth line = [](int, double d) { return 1e-3 * d; };
  EXPECT_NEAR(fit_terms(run_problem({2}, {3842, 4000, 4400}, line, 0.001))
                  .at(0)
                  .evaluate(2, 5000, Bound::avg),
              5, 0.02);
}

TEST(FitTerms, FindsTheStepsOfATree) {
  const Truth tree = [](int p, double d) { return std::ceil(std::log2(p)) * (2 + 0.001 * d); };
  const std::vector<int> ranks{2, 3, 4, 6, 8, 12, 16, 32};
  const Equation equation = fit_terms(run_problem(ranks, kTermSizes, tree, 0.01)).at(0);
  EXPECT_TRUE(equation.other_terms.empty());
  expect_times(equation, {2, 7, 32, 1000}, tree, 0.03);
}

TEST(FitTerms, FindsTheSharesOfARing) {
  const Truth ring = [](int p, double d) { return (p - 1) * 1.5 + 2e-3 * d * (p - 1) / p; };
  const Equation equation = fit_terms(run_problem(kPowers, kTermSizes, ring, 0.01)).at(0);
  expect_times(equation, {2, 8, 32, 256}, ring, 0.03);
}

TEST(FitTerms, OnePersonalityForPowersOfTwoAnotherForTheRest) {
  const Truth two_ways = [](int p, double d) {
    const bool power = (p & (p - 1)) == 0;
    const double steps = std::ceil(std::log2(p));
    return power ? steps * (2 + 0.001 * d) : steps * (2 + 0.001 * d) + 5 + 0.003 * d;
  };
  const std::vector<int> ranks{2, 3, 4, 6, 8, 12, 16, 24, 32};
  const Equation equation = fit_terms(run_problem(ranks, kTermSizes, two_ways, 0.01)).at(0);
  EXPECT_FALSE(equation.other_terms.empty());
  expect_times(equation, {4, 6, 16, 24}, two_ways, 0.03);
}

TEST(FitTerms, PiecesThatMeetShareTheirEnds) {
  // Slope 0.001 up to 1000 bytes, 0.01 from there on.
  const Truth kink = [](int, double d) { return 5 + 0.001 * d + 0.009 * std::max(d - 1000, 0.0); };
  RunProblem problem = run_problem({2}, kTermSizes, kink, 0.005);
  problem.begins = {1, 1000};
  const std::vector<Equation> equations = fit_terms(problem);
  ASSERT_EQ(equations.size(), 2u);
  EXPECT_EQ(names(equations[0].terms), "[1][d]");
  EXPECT_EQ(names(equations[1].terms), "[1][d]");
  EXPECT_NEAR(equations[0].terms[0].coefficient.value, 5, 0.1);
  EXPECT_NEAR(equations[0].terms[1].coefficient.value, 0.001, 0.0003);
  EXPECT_NEAR(equations[1].terms[0].coefficient.value, 5 - 9, 0.4);
  EXPECT_NEAR(equations[1].terms[1].coefficient.value, 0.01, 0.0003);
  EXPECT_NEAR(equations[0].evaluate(2, 1000, Bound::avg),
              equations[1].evaluate(2, 1000, Bound::avg), 1e-9);
  for (const Equation& equation : equations)
    for (const machine::Term& term : equation.terms) {
      EXPECT_GT(term.coefficient.error, 0);
      EXPECT_LT(term.coefficient.error, 0.2);
    }
}

// Of what was measured with the same launches' noise again, the share within
// MIN and MAX is at least what the interval says.
TEST(FitTerms, IntervalHoldsNewLaunches) {
  const Truth line = [](int, double d) { return 10 + 0.01 * d; };
  int within = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RunProblem problem = run_problem({2}, kTermSizes, line, 0, 1);
    problem.observations.clear();
    Noise noise(seed);
    const auto launch = [&](std::size_t group, auto&& put) {
      const double level = noise.factor(0.02);
      for (const std::uint64_t d : kTermSizes)
        put(Observation{2, d, group, line(2, static_cast<double>(d)) * level * noise.factor(0.02)});
    };
    for (std::size_t group = 0; group < 5; ++group)
      launch(group, [&](const Observation& each) { problem.observations.push_back(each); });
    const Equation equation = fit_terms(problem).at(0);
    ASSERT_TRUE(equation.interval);
    launch(0, [&](const Observation& each) {
      const auto d = static_cast<double>(each.bytes);
      within += each.time >= equation.evaluate(2, d, Bound::min) &&
                each.time <= equation.evaluate(2, d, Bound::max);
      ++all;
    });
  }
  EXPECT_GE(within, 0.93 * all);
  EXPECT_LE(within, 0.995 * all);
}

// Nothing up to 2579 bytes, then a scatter of times: all of these are far from what
// is usual below, and none of them is wild.
TEST(FitTerms, ScatterBesideSteadyTimesDoesNotRunAway) {
  RunProblem problem;
  problem.negligible = 0.026;
  problem.begins = {1, 2579.99};
  const std::vector<std::vector<double>> scattered{{0.006, 0.0003, 4e-6, 0.0008},
                                                   {0.014, 8e-5, 4e-6, 0.053}};
  for (std::size_t launch = 0; launch < 4; ++launch) {
    for (const std::uint64_t d : sizes_to(2048))
      problem.observations.push_back({2, d, launch, 1e-5});
    problem.observations.push_back({2, 2580, launch, scattered[0][launch]});
    problem.observations.push_back({2, 3251, launch, scattered[1][launch]});
  }
  for (const Equation& equation : fit_terms(problem))
    for (const double d : {1.0, 2000.0, 2580.0, 3251.0})
      EXPECT_LT(equation.evaluate(2, d, Bound::avg), 0.1) << d;
}

TEST(FitTerms, DegenerateTimes) {
  const Truth nothing = [](int, double) { return 0.0; };
  const Truth constant = [](int, double) { return 3.0; };
  const Equation zero = fit_terms(run_problem({2}, {8, 16}, nothing, 0)).at(0);
  EXPECT_EQ(zero.evaluate(2, 8, Bound::max), 0);
  for (const std::vector<std::uint64_t>& sizes :
       {std::vector<std::uint64_t>{0}, std::vector<std::uint64_t>{8, 16}}) {
    for (const std::vector<int>& ranks : {std::vector<int>{2}, std::vector<int>{2, 4, 8}}) {
      for (const int launches : {1, 2, 5}) {
        const Equation equation = fit_terms(run_problem(ranks, sizes, constant, 0, launches)).at(0);
        EXPECT_NEAR(equation.evaluate(2, 8, Bound::avg), 3, 1e-9);
        EXPECT_NEAR(equation.evaluate(64, 1 << 20, Bound::avg), 3, 1e-6);
      }
    }
  }
  // One point, once.
  const Equation one = fit_terms(run_problem({2}, {8}, constant, 0, 1)).at(0);
  EXPECT_NEAR(one.evaluate(2, 8, Bound::avg), 3, 1e-12);
  EXPECT_FALSE(one.interval);
}

}  // namespace
}  // namespace foretrace::measure
