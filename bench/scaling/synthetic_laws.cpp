// How often fit_scaling finds the right leading order, on the synthetic design by which Extra-P is
// judged: f = c0 + c1 x^i log2(x)^j, i and j drawn from its set, c0 and c1 log-uniform in
// [0.001, 1000], five values of x in a row of doubles, five repeated measurements, each off by
// uniform noise of +-n.
//
//   synthetic_laws [FUNCTIONS] [SEED]
//
// Right: the exponent of the found leading term is within 1/4 of the true one (as Extra-P's papers
// count); exact: exponent and logarithms are the same. Also the error of the prediction at 4 and 16
// times the largest x, and how often the 95 % interval holds the truth. Then the same of functions
// that saturate, c0 (1 - b x^-k), b in 0.3 to 1.1 and k in 0.4 to 2.5, which are forms for few k.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "scaling/fit.hpp"
#include "stats/summary.hpp"

using namespace foretrace;

namespace {

struct Truth {
  double c0 = 0, c1 = 0;
  scaling::Factor factor;
  double at(double x) const { return c0 + c1 * scaling::evaluate({factor}, {x}); }
};

// The term that grows fastest.
scaling::Factor leading(const std::vector<scaling::Term>& terms) {
  scaling::Factor out;
  for (const auto& term : terms)
    if (!term.shape.empty()) {
      const auto& each = term.shape.front();
      if (each.exponent > out.exponent || (each.exponent == out.exponent && each.logs > out.logs))
        out = each;
    }
  return out;
}

struct Score {
  int right = 0, exact = 0, told = 0, told_right = 0;
  std::vector<double> at4, at16;
  int held4 = 0, held16 = 0;
};

Score judge(int functions, unsigned seed, double noise, bool saturating) {
  std::mt19937_64 random(seed);
  std::vector<scaling::Factor> factors;
  for (const auto& each : scaling::single_factors())
    if (each.exponent >= 0) factors.push_back(each);
  std::uniform_real_distribution<double> magnitude(-3, 3), shake(-noise, noise);
  std::uniform_real_distribution<double> depth(0.3, 1.1), exponent(0.4, 2.5);
  Score score;
  for (int n = 0; n < functions; ++n) {
    Truth truth;
    truth.factor = factors[random() % factors.size()];
    truth.c0 = std::pow(10, magnitude(random));
    truth.c1 = std::pow(10, magnitude(random));
    if (saturating) {
      truth.factor = {0, -exponent(random), 0};
      truth.c1 = -truth.c0 * depth(random);
    }
    const double first = std::pow(2, 1 + static_cast<double>(random() % 4));
    std::vector<scaling::Observation> observations;
    for (int i = 0; i < 5; ++i) {
      const double x = first * std::pow(2, i);
      scaling::Observation each{{x}, {}};
      for (int r = 0; r < 5; ++r) each.values.push_back(truth.at(x) * (1 + shake(random)));
      observations.push_back(each);
    }
    const double last = first * 16;
    const auto near = scaling::fit_scaling(observations, {"x"}, {4 * last});
    const auto far = scaling::fit_scaling(observations, {"x"}, {16 * last});
    const scaling::Factor found = leading(near.best.terms);
    const bool right = std::fabs(found.exponent - truth.factor.exponent) <= 0.25 + 1e-9;
    score.right += right;
    score.exact += found.exponent == truth.factor.exponent && found.logs == truth.factor.logs;
    score.told += near.identifiable;
    score.told_right += near.identifiable && right;
    score.at4.push_back(std::fabs(near.best.value / truth.at(4 * last) - 1));
    score.at16.push_back(std::fabs(far.best.value / truth.at(16 * last) - 1));
    score.held4 += near.low <= truth.at(4 * last) && truth.at(4 * last) <= near.high;
    score.held16 += far.low <= truth.at(16 * last) && truth.at(16 * last) <= far.high;
  }
  return score;
}

}  // namespace

int main(int argc, char** argv) {
  const int functions = argc > 1 ? std::atoi(argv[1]) : 1000;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  std::printf("%d functions, seed %u\n", functions, seed);
  std::printf(
      "noise   right   exact  told apart  right of these  median error x4    x16  held x4    "
      "x16\n");
  for (const double noise : {0.01, 0.02, 0.05, 0.10}) {
    const Score s = judge(functions, seed, noise, false);
    const auto share = [&](int count) { return 100.0 * count / functions; };
    std::printf(
        "%4.0f %%  %5.1f %%  %5.1f %%     %5.1f %%         %5.1f %%          %5.1f %%  %5.1f %%  "
        "%5.1f %%  %5.1f %%\n",
        100 * noise, share(s.right), share(s.exact), share(s.told),
        s.told ? 100.0 * s.told_right / s.told : 0.0, 100 * stats::median(s.at4),
        100 * stats::median(s.at16), share(s.held4), share(s.held16));
  }
  std::printf("that saturate: told apart  median error x4    x16  held x4    x16\n");
  for (const double noise : {0.01, 0.02, 0.05, 0.10}) {
    const Score s = judge(functions, seed, noise, true);
    const auto share = [&](int count) { return 100.0 * count / functions; };
    std::printf("%4.0f %%              %5.1f %%          %5.1f %%  %5.1f %%  %5.1f %%  %5.1f %%\n",
                100 * noise, share(s.told), 100 * stats::median(s.at4), 100 * stats::median(s.at16),
                share(s.held4), share(s.held16));
  }
  return 0;
}
