#include "machine/draw.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string_view>

#include "machine/state.hpp"

namespace foretrace::machine {
namespace {

constexpr double kUsualCoverage = 0.95;
// A program does not meet a state as often as the measurement did, which keeps a machine busy for
// minutes.
constexpr double kLeastShare = 0.25;
// Intervals may reach down to 0, a logarithm cannot.
constexpr double kLeastMultiple = 1e-3;

// FNV-1a.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::mt19937_64 random_of(std::uint64_t seed, std::uint64_t number, std::string_view name) {
  return std::mt19937_64(seed * 0x9e3779b97f4a7c15 ^ number * 0xbf58476d1ce4e5b9 ^ hash_of(name));
}

// Above 0, below 1.
double share_of(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
}

// Standard normal (Box and Muller), the same with every standard library.
double next_normal(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(share_of(random)));
  return radius * std::cos(2 * std::numbers::pi * share_of(random));
}

double draw(std::uint64_t seed, std::uint64_t number, std::string_view name) {
  std::mt19937_64 random = random_of(seed, number, name);
  return next_normal(random);
}

// How many standard deviations to either side hold that share of a normal distribution.
double deviations(double coverage) {
  double low = 0;
  double high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < coverage ? low : high) = middle;
  }
  return high;
}

double multiple(const PredictionInterval& interval, double drawn) {
  const bool known = interval.coverage > 0 && interval.coverage < 1;
  const double end = std::max(drawn < 0 ? interval.low : interval.high, kLeastMultiple);
  return std::exp(std::abs(drawn) * std::log(end) /
                  deviations(known ? interval.coverage : kUsualCoverage));
}

void move(Equation& equation, double drawn) {
  const double factor = equation.interval ? multiple(*equation.interval, drawn) : 1;
  const auto move_one = [&](Coefficient& coefficient) {
    if (equation.interval)
      coefficient.value *= factor;
    else
      coefficient.value += drawn * coefficient.error;
  };
  for (Coefficient* coefficient : {&equation.constant, &equation.startup, &equation.data})
    move_one(*coefficient);
  for (Term& term : equation.terms) move_one(term.coefficient);
  for (Term& term : equation.other_terms) move_one(term.coefficient);
}

void draw_functions(Functions& functions, std::uint64_t seed, std::uint64_t number) {
  for (auto& [name, function] : functions) {
    const double by = draw(seed, number, name);
    for (Regime& regime : function.regimes) move(regime.equation, by);
  }
}

}  // namespace

MachineModel draw_model(const MachineModel& model, std::uint64_t seed, std::uint64_t number) {
  std::mt19937_64 random = random_of(seed, number, "state");
  const bool other_state =
      has_other_state(model) &&
      share_of(random) < std::clamp(model.other_state_share, kLeastShare, 1 - kLeastShare);
  MachineModel drawn = other_state ? in_other_state(model) : model;
  draw_functions(drawn.functions, seed, number);
  for (auto& [path, own] : drawn.paths) draw_functions(own.functions, seed, number);
  return drawn;
}

std::size_t draw_one_of(std::size_t count, std::uint64_t seed, std::uint64_t number,
                        std::string_view what) {
  return random_of(seed, number, what)() % count;
}

double draw_student(int degrees, std::uint64_t seed, std::uint64_t number, std::string_view what) {
  std::mt19937_64 random = random_of(seed, number, what);
  const double normal = next_normal(random);
  double squares = 0;
  for (int i = 0; i < degrees; ++i) squares += std::pow(next_normal(random), 2);
  return normal / std::sqrt(squares / degrees);
}

}  // namespace foretrace::machine
