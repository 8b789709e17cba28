// Laws that are known: found again, extrapolated, and told where the data do not say.
#include "scaling/fit.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using scaling::fit_scaling;
using scaling::Observation;

std::vector<Observation> line(const std::function<double(double)>& f,
                              const std::vector<double>& xs = {2, 4, 8, 16, 32}) {
  std::vector<Observation> out;
  for (const double x : xs) out.push_back({{x}, {f(x)}});
  return out;
}

TEST(FitScaling, FindsExactLaws) {
  struct Case {
    std::function<double(double)> f;
    const char* form;
  };
  for (const Case& each :
       {Case{[](double) { return 7.0; }, "7"},
        Case{[](double x) { return 1 + 2 * x; }, "1 + 2 * p"},
        Case{[](double x) { return 3 + 0.5 * std::log2(x); }, "3 + 0.5 * log2(p)"},
        Case{[](double x) { return 5 + x * x * std::log2(x); }, "5 + 1 * p^2 * log2(p)"},
        Case{[](double x) { return 0.1 + 8 / x; }, "0.1 + 8 * p^-1"},
        Case{[](double x) { return 9 - 8 / x; }, "9 - 8 * p^-1"},
        Case{[](double x) { return 3 - 2 / x + 0.5 * std::log2(x); },
             "3 - 2 * p^-1 + 0.5 * log2(p)"}}) {
    const auto law = fit_scaling(line(each.f), {"p"}, {1024});
    EXPECT_EQ(format_law(law.best.terms, law.names), each.form);
    EXPECT_NEAR(law.best.value / each.f(1024), 1, 1e-6) << each.form;
    EXPECT_LE(law.low, each.f(1024));
    EXPECT_GE(law.high, each.f(1024));
  }
}

// A constant and nothing of another term is the constant, and no other law. What may yet rise
// makes the interval wide, but not downwards.
TEST(FitScaling, WhatNeverMovedIsOneLaw) {
  const auto law = fit_scaling(line([](double) { return 3.0; }), {"p"}, {1024});
  EXPECT_TRUE(law.others.empty());
  EXPECT_GT(law.low, 2.99);
  EXPECT_GT(law.high, 6);
  EXPECT_FALSE(law.identifiable);
}

// Strong scaling: the work falls with 1/p, a tree of messages rises. T(1024) = 0.1 + 1/1024 + 1.
// 1.5 + 0.25 log2(p), each value rounded and off by up to 1 %: 0.06/p would follow the noise.
TEST(FitScaling, AddsNoTermThatNoiseExplains) {
  const std::vector<Observation> data{{{4}, {2.01, 2.02, 1.99}},
                                      {{8}, {2.24, 2.26, 2.25}},
                                      {{16}, {2.51, 2.49, 2.50}},
                                      {{32}, {2.74, 2.76, 2.75}},
                                      {{64}, {3.01, 3.00, 2.99}}};
  const auto law = fit_scaling(data, {"p"}, {1024});
  ASSERT_EQ(law.best.terms.size(), 2U) << format_law(law.best.terms, law.names);
  EXPECT_NEAR(law.best.terms[0].coefficient, 1.5, 0.02);
  EXPECT_NEAR(law.best.terms[1].coefficient, 0.25, 0.003);
}

// Mean waits of a program whose ranks wait for one of at most 1 ms: a form that rises and falls
// again follows the points, but they never fell.
TEST(FitScaling, LetsWhatSaturatesStay) {
  const std::vector<double> waits{480, 640, 720, 800, 800};
  std::vector<Observation> data;
  for (std::size_t i = 0; const double p : {2, 3, 4, 8, 16}) data.push_back({{p}, {waits[i++]}});
  const auto law = fit_scaling(data, {"p"}, {64});
  EXPECT_NEAR(law.best.value, 800, 0.02 * 800);
  EXPECT_LE(law.low, 800);
  EXPECT_GE(law.high, 800);
  EXPECT_GT(law.missed, 0);
}

// 1 - 1.5/p is -0.5 at p = 1, where it cannot be the law; on 2 ranks and more it is.
TEST(FitScaling, NeverTellsLessThanNothing) {
  const auto f = [](double x) { return 1 - 1.5 / x; };
  EXPECT_NEAR(fit_scaling(line(f), {"p"}, {1024}).best.value, f(1024), 1e-6);
  const auto law = fit_scaling(line(f), {"p"}, {1});
  EXPECT_GT(law.best.value, 0);
  for (const auto& other : law.others) EXPECT_GT(other.value, 0);
}

// A law that is none of the forms: with few points, what the best form misses by is itself little
// known, and others that miss by somewhat more are not out.
TEST(FitScaling, KeepsFormsThatFewPointsCannotExclude) {
  for (const double half : {3, 6}) {
    const auto f = [&](double x) { return x / (x + half); };
    const auto law = fit_scaling(line(f), {"p"}, {512});
    EXPECT_TRUE(!law.identifiable || (law.low <= f(512) && f(512) <= law.high)) << half;
  }
}

// What falls says little of what may yet rise: the interval at 32 times is far above the value.
TEST(FitScaling, ToldApartOnlyWhereTheIntervalIsNarrow) {
  std::vector<Observation> data;
  for (const double p : {1, 2, 4, 8, 16, 32}) {
    const double value = 0.5 + 100 / p;
    data.push_back({{p}, {0.99 * value, value, 1.01 * value}});
  }
  const auto law = fit_scaling(data, {"p"}, {1024});
  EXPECT_GT(law.high, 2 * law.best.value);
  EXPECT_FALSE(law.identifiable);
}

TEST(FitScaling, ServesStrongScaling) {
  const auto f = [](double x) { return 0.1 + 1 / x + 0.1 * std::log2(x); };
  const auto law = fit_scaling(line(f, {1, 2, 4, 8, 16, 32, 64}), {"p"}, {1024});
  EXPECT_NEAR(law.best.value / f(1024), 1, 0.05);
}

// 1 % apart everywhere that was measured, 4 and more times apart at 64 times the largest: nobody
// can say.
TEST(FitScaling, RefusesToTellWhatDataDoNot) {
  std::vector<Observation> points;
  int turn = 0;
  for (const double x : {2.0, 4.0, 8.0, 16.0, 32.0}) {
    const double y = 100 + 0.01 * x;
    const double off = turn++ % 2 ? 0.02 : -0.02;
    points.push_back({{x}, {y * (1 + off), y * (1 - off), y * (1 + 0.9 * off)}});
  }
  const auto law = fit_scaling(points, {"p"}, {65536});
  EXPECT_FALSE(law.identifiable);
  EXPECT_FALSE(law.others.empty());
  EXPECT_LE(law.low, 100 + 0.01 * 65536);
  EXPECT_GE(law.high, 100 + 0.01 * 65536);
}

// Exact points of a law that no form is: what rises is a hundredth of the time at 16 ranks, a
// twentieth at 32, and most of it at 256. The points before 32 did not tell 32, and the interval
// says so.
TEST(FitScaling, LooksBackAtWhatItWouldHaveTold) {
  const auto f = [](double x) { return 10 / x + 2e-6 * std::pow(x, 2.7) + 0.4 / std::sqrt(x); };
  const auto law = fit_scaling(line(f), {"p"}, {256});
  EXPECT_GT(law.missed, 0);
  EXPECT_TRUE(!law.identifiable || (law.low <= f(256) && f(256) <= law.high))
      << law.low << " " << f(256) << " " << law.high;
  EXPECT_LT(law.low, law.best.value);
  EXPECT_GT(law.high, law.best.value);
}

// The same at the other end, where what falls with the ranks is nearly all of the time.
TEST(FitScaling, LooksBackBelowTheSmallest) {
  const auto f = [](double x) { return 1 + 0.02 * x + std::pow(x, -1.6); };
  const auto law = fit_scaling(line(f), {"p"}, {1});
  EXPECT_GT(law.missed, 0);
  EXPECT_EQ(law.smallest, std::vector<double>{2});
  // 1 is as far from 2 as 2 is from 4.
  EXPECT_GE(law.high, law.best.value * (1 + law.missed) * (1 - 1e-12));
  EXPECT_LE(law.low, law.best.value / (1 + law.missed) * (1 + 1e-12));
}

// Inside of what was measured there is nothing to allow for.
TEST(FitScaling, LooksBackOnlyForWhatIsBeyond) {
  const auto f = [](double x) { return 10 / x + 2e-6 * std::pow(x, 2.7) + 0.4 / std::sqrt(x); };
  EXPECT_EQ(fit_scaling(line(f), {"p"}, {12}).missed, 0);
  EXPECT_EQ(fit_scaling(line([](double x) { return 1 + 2 * x; }), {"p"}, {256}).missed, 0);
}

TEST(FitScaling, TakesSeveralParameters) {
  std::vector<Observation> points;
  const auto f = [](double p, double n) { return 2 + 0.5 * n * std::log2(p); };
  for (const double p : {2.0, 4.0, 8.0, 16.0, 32.0})
    for (const double n : {10.0, 20.0, 40.0, 80.0, 160.0}) points.push_back({{p, n}, {f(p, n)}});
  const auto law = fit_scaling(points, {"p", "n"}, {512, 1000});
  EXPECT_NEAR(law.best.value / f(512, 1000), 1, 1e-6);
}

TEST(FitScaling, RefusesWhatMakesNoSense) {
  EXPECT_THROW(fit_scaling(line([](double x) { return x; }, {1, 2, 4, 8}), {"p"}, {16}), Error);
  EXPECT_THROW(fit_scaling(line([](double x) { return x - 4; }), {"p"}, {16}), Error);
  EXPECT_THROW(fit_scaling(line([](double x) { return x; }, {0, 1, 2, 4, 8}), {"p"}, {16}), Error);
  EXPECT_THROW(fit_scaling(line([](double x) { return x; }), {"p"}, {-1}), Error);
}

}  // namespace
