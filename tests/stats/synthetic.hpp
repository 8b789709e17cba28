// Synthetic samples with known truth: what launches of a machine would show whose
// equations are known, with the launches' noise and wild values.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "stats/relative_fit.hpp"

namespace foretrace::stats::synthetic {

// The same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform(double from = 0, double to = 1) {
    return from + (to - from) * (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53;
  }
  // Between positive numbers, every order of magnitude as likely.
  double log_uniform(double from, double to) { return from * std::pow(to / from, uniform()); }
  std::size_t below(std::size_t n) { return bits_() % n; }
  bool chance(double share) { return uniform() < share; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 bits_;
};

enum class NoiseKind { common, independent };  // of a launch's points

struct Noise {
  NoiseKind kind = NoiseKind::common;
  double between = 0.03;  // relative standard deviation between launches
  double inside = 0.006;  // and of every value about its launch's
  double wild = 0.05;     // share of wild values
};

// One launch after the other.
class Launch {
 public:
  Launch(const Noise& noise, Random& random)
      : noise_(noise), random_(random), level_(1 + noise.between * random.normal()) {}

  // What it shows where the truth is `time`, wild values aside.
  double clean(double time) {
    const double level =
        noise_.kind == NoiseKind::common ? level_ : 1 + noise_.between * random_.normal();
    return time * level * (1 + noise_.inside * random_.normal());
  }
  // Interruptions make a value larger; now and then one is too small.
  double value(double time) {
    const double seen = clean(time);
    if (!random_.chance(noise_.wild)) return seen;
    return random_.chance(0.8) ? seen * random_.log_uniform(1.5, 20)
                               : seen * random_.uniform(0.2, 0.6);
  }

 private:
  const Noise& noise_;
  Random& random_;
  double level_;
};

// About `count` different whole numbers from `first` to `last`, every order of magnitude alike.
inline std::vector<double> sizes(double first, double last, int count) {
  std::vector<double> result;
  for (int i = 0; i < count; ++i) {
    const double size = std::round(first * std::pow(last / first, i / (count - 1.0)));
    if (result.empty() || size > result.back()) result.push_back(size);
  }
  return result;
}

// What one column of a form is worth at p and d.
using Term = double (*)(double p, double d);

struct Form {
  std::string name;
  std::vector<Term> terms;  // the constant first
};

// c + s f(p) + k g(p,d): Howell's thesis section 3.5.1.
inline std::vector<Form> paper_forms() {
  const std::vector<std::pair<std::string, Term>> startups{
      {"p", [](double p, double) { return p; }},
      {"ln p", [](double p, double) { return std::log(p); }},
      {"p^2", [](double p, double) { return p * p; }}};
  const std::vector<std::pair<std::string, Term>> data{
      {"d", [](double, double d) { return d; }},
      {"p d", [](double p, double d) { return p * d; }},
      {"ln p d", [](double p, double d) { return std::log(p) * d; }},
      {"p^2 d", [](double p, double d) { return p * p * d; }}};
  std::vector<Form> forms;
  for (const auto& [f_name, f] : startups)
    for (const auto& [g_name, g] : data)
      forms.push_back({f_name + " + " + g_name, {[](double, double) { return 1.0; }, f, g}});
  return forms;
}

// Terms of algorithms: {1, ceil log2 p, p-1}, and d x {1, ceil log2 p, (p-1)/p, p-1}.
inline std::vector<Term> dictionary() {
  return {[](double, double) { return 1.0; },
          [](double p, double) { return std::ceil(std::log2(p)); },
          [](double p, double) { return p - 1; },
          [](double, double d) { return d; },
          [](double p, double d) { return std::ceil(std::log2(p)) * d; },
          [](double p, double d) { return (p - 1) / p * d; },
          [](double p, double d) { return (p - 1) * d; }};
}

struct Truth {
  std::vector<Term> terms;
  std::vector<double> coefficients;

  double operator()(double p, double d) const {
    double time = 0;
    for (std::size_t j = 0; j < terms.size(); ++j) time += coefficients[j] * terms[j](p, d);
    return time;
  }
};

// Every term matters somewhere: each contributes 0.2 to 5 times as much as the constant at a
// middle p and d.
inline Truth random_truth(const std::vector<Term>& terms, double p, double d, Random& random) {
  Truth truth{terms, {}};
  const double constant = random.log_uniform(0.1, 100);
  for (Term term : terms)
    truth.coefficients.push_back(
        &term == &terms.front() ? constant : constant * random.log_uniform(0.2, 5) / term(p, d));
  truth.coefficients.front() = constant;
  return truth;
}

// `launches` launches of every p at every d.
inline RelativeProblem sample(const Truth& truth, const std::vector<Term>& columns,
                              const std::vector<double>& ps, const std::vector<double>& ds,
                              std::size_t launches, const Noise& noise, Random& random) {
  RelativeProblem problem;
  problem.columns.resize(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) problem.columns[j].non_negative = j > 0;
  for (std::size_t g = 0; g < launches; ++g) {
    Launch launch(noise, random);
    for (double p : ps)
      for (double d : ds) {
        problem.y.push_back(launch.value(truth(p, d)));
        problem.group.push_back(g);
        for (std::size_t j = 0; j < columns.size(); ++j)
          problem.columns[j].values.push_back(columns[j](p, d));
      }
  }
  return problem;
}

inline std::vector<double> row_of(const std::vector<Term>& columns, double p, double d) {
  std::vector<double> row;
  for (Term column : columns) row.push_back(column(p, d));
  return row;
}

}  // namespace foretrace::stats::synthetic
