// Synthetic samples with known truth: are breakpoints where they are, and do intervals hold what
// they say they hold?
//
// FORETRACE_TRUTH_CASES sets the number of cases of every test (default below). With fewer than
// 1,000 the accepted coverage is widened by two standard errors of a share of so many cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stats/column_choice.hpp"
#include "stats/group_errors.hpp"
#include "stats/relative_fit.hpp"
#include "stats/segmentation.hpp"
#include "synthetic.hpp"
#include "synthetic_regimes.hpp"

namespace foretrace::stats {
namespace {

using synthetic::FunctionTruth;
using synthetic::Launch;
using synthetic::Noise;
using synthetic::NoiseKind;
using synthetic::Random;
using synthetic::RegimeTruth;
using synthetic::Study;
using synthetic::Truth;

constexpr std::size_t kLaunches = 5;

std::size_t cases(std::size_t otherwise) {
  const char* text = std::getenv("FORETRACE_TRUTH_CASES");
  return text ? std::stoul(text) : otherwise;
}

struct Share {
  std::size_t inside = 0;
  std::size_t all = 0;

  void count(bool in) {
    inside += in;
    ++all;
  }
  double value() const { return static_cast<double>(inside) / static_cast<double>(all); }
};

bool holds(const Interval& interval, double value) {
  return interval.lower <= value && value <= interval.upper;
}

void expect_covers(const char* what, const Share& share, std::size_t cases) {
  const double slack = cases < 1000 ? 2 * std::sqrt(0.95 * 0.05 / static_cast<double>(cases)) : 0;
  std::printf("    %-34s %6.2f %% of %zu\n", what, 100 * share.value(), share.all);
  testing::Test::RecordProperty(what, std::to_string(100 * share.value()));
  EXPECT_GE(share.value(), 0.93 - slack) << what;
  EXPECT_LE(share.value(), 0.97 + slack) << what;
}

// 1 to 5 % between launches, a fifth of it inside, 5 % wild values.
Noise noise_of(NoiseKind kind, Random& random) {
  const double between = random.log_uniform(0.01, 0.05);
  return {kind, between, between / 5, 0.05};
}

class Truths : public testing::TestWithParam<NoiseKind> {};

INSTANTIATE_TEST_SUITE_P(Noise, Truths, testing::Values(NoiseKind::common, NoiseKind::independent),
                         [](const auto& kind) {
                           return kind.param == NoiseKind::common ? "OfTheLaunch" : "OfEveryPoint";
                         });

TEST_P(Truths, EveryPaperFormHasItsCoefficientsAndPredictionsInTheirIntervals) {
  const std::vector<synthetic::Form> forms = synthetic::paper_forms();
  const std::vector<double> ranks{2, 4, 8, 16};
  const std::vector<double> small = synthetic::sizes(1, 4096, 20);
  const std::vector<double> large = synthetic::sizes(65536, 1 << 20, 6);
  const std::size_t count = cases(1000);
  Share coefficients[3], predictions;
  for (std::size_t c = 0; c < count; ++c) {
    Random random(c);
    const std::vector<synthetic::Term>& terms = forms[c % 12].terms;
    const std::vector<double>& sizes = c / 12 % 2 == 0 ? small : large;
    const Truth truth = synthetic::random_truth(terms, 6, sizes[sizes.size() / 2], random);
    const Noise noise = noise_of(GetParam(), random);
    const RelativeProblem problem =
        synthetic::sample(truth, terms, ranks, sizes, kLaunches, noise, random);
    const RelativeFit fit = fit_relative(problem);
    const GroupErrors errors = group_errors(problem, fit);
    for (std::size_t j = 0; j < 3; ++j)
      coefficients[j].count(holds(errors.coefficients[j], truth.coefficients[j]));
    const double p = ranks[random.below(ranks.size())];
    const double d = std::round(random.log_uniform(sizes.front(), sizes.back()));
    predictions.count(holds(errors.prediction(synthetic::row_of(terms, p, d)),
                            Launch(noise, random).clean(truth(p, d))));
  }
  expect_covers("constant", coefficients[0], count);
  expect_covers("start-up", coefficients[1], count);
  expect_covers("data", coefficients[2], count);
  expect_covers("prediction", predictions, count);
}

TEST_P(Truths, OtherNumbersOfLaunches) {
  const synthetic::Form form = synthetic::paper_forms()[6];
  const std::vector<double> ranks{2, 4, 8};
  const std::vector<double> sizes = synthetic::sizes(1, 4096, 10);
  const std::size_t count = cases(1000);
  for (std::size_t launches : {3, 10}) {
    Share coefficients, predictions;
    for (std::size_t c = 0; c < count; ++c) {
      Random random(c);
      const Truth truth = synthetic::random_truth(form.terms, 4, 64, random);
      const Noise noise = noise_of(GetParam(), random);
      const RelativeProblem problem =
          synthetic::sample(truth, form.terms, ranks, sizes, launches, noise, random);
      const GroupErrors errors = group_errors(problem, fit_relative(problem));
      for (std::size_t j = 0; j < 3; ++j)
        coefficients.count(holds(errors.coefficients[j], truth.coefficients[j]));
      predictions.count(holds(errors.prediction(synthetic::row_of(form.terms, 4, 500)),
                              Launch(noise, random).clean(truth(4, 500))));
    }
    expect_covers(launches == 3 ? "coefficients, 3 launches" : "coefficients, 10 launches",
                  coefficients, count);
    expect_covers(launches == 3 ? "prediction, 3 launches" : "prediction, 10 launches", predictions,
                  count);
  }
}

// What came of many functions whose regimes and forms had to be found.
struct Found {
  Share breaks;        // found within one step of the grid
  Share numbers;       // functions with the right number of regimes
  Share forms;         // regimes whose own form was chosen
  Share coefficients;  // in their intervals, the form known
  Share of_chosen;     // likewise of the form chosen, where it is the right one
  Share predictions;   // of the form known
  Share of_any;        // of the form chosen, right or not
};

// Steps of the grid between a true break and the nearest found.
std::size_t steps_away(const std::vector<double>& sizes, double truth, const Segmentation& found) {
  const auto row = [&](double x) { return std::ranges::upper_bound(sizes, x) - sizes.begin(); };
  std::size_t least = sizes.size();
  for (const Break& at : found.breaks)
    least = std::min(least, static_cast<std::size_t>(std::abs(row(at.x) - row(truth))));
  return least;
}

void study_pieces(const Study& study, const FunctionTruth& function,
                  const std::vector<CurvePoint>& points, const Segmentation& pieces, bool matched,
                  const Noise& noise, Random& random, Found& found) {
  ColumnSet every(study.columns.size());
  for (std::size_t j = 0; j < every.size(); ++j) every[j] = j;
  for (std::size_t k = 0; k < pieces.pieces.size(); ++k) {
    const Piece& piece = pieces.pieces[k];
    const double middle = std::sqrt(std::max(piece.from, 1.0) * piece.to);
    const RegimeTruth& regime = function.regimes[function.regime_of(middle)];
    const RelativeProblem known = piece_problem(study, points, pieces, k, regime.columns);
    const GroupErrors errors = group_errors(known, fit_relative(known));
    const RelativeProblem open = piece_problem(study, points, pieces, k, every);
    const Choice choice = choose_columns(open, study.candidates);
    const ColumnSet& chosen = study.candidates[choice.candidate];
    const GroupErrors of_choice = group_errors(open, choice.fit, {}, chosen);
    found.forms.count(chosen == regime.columns);
    for (std::size_t j = 0; matched && j < regime.columns.size(); ++j) {
      const double truth = regime.truth.coefficients[j];
      found.coefficients.count(holds(errors.coefficients[j], truth));
      if (chosen == regime.columns)
        found.of_chosen.count(holds(of_choice.coefficients[regime.columns[j]], truth));
    }
    const double p = study.ranks[random.below(study.ranks.size())];
    const double d = std::round(random.log_uniform(std::max(piece.from, 1.0), piece.to));
    const double shown = Launch(noise, random).clean(function(p, d));
    const std::vector<double> row = synthetic::row_of(study.columns, p, d);
    std::vector<double> of_form;
    for (std::size_t j : regime.columns) of_form.push_back(row[j]);
    found.predictions.count(holds(errors.prediction(of_form), shown));
    found.of_any.count(holds(of_choice.prediction(row), shown));
  }
}

Found find_regimes(const Study& study, NoiseKind kind, std::size_t count) {
  Found found;
  for (std::size_t c = 0; c < count; ++c) {
    Random random(c);
    const FunctionTruth function = synthetic::random_function(study, 1 + c % 5, random);
    const Noise noise = noise_of(kind, random);
    const std::vector<CurvePoint> points =
        synthetic::measure(study, function, kLaunches, noise, random);
    const Segmentation pieces = segment(points);
    bool matched = pieces.breaks.size() == function.breaks.size();
    found.numbers.count(matched);
    for (double at : function.breaks) {
      const bool near = steps_away(study.sizes, at, pieces) <= 1;
      found.breaks.count(near);
      matched = matched && near;
    }
    study_pieces(study, function, points, pieces, matched, noise, random, found);
  }
  return found;
}

void expect_found(const Found& found, std::size_t count) {
  std::printf(
      "    breaks within a step %.2f %% of %zu, right number of regimes %.2f %%, right form %.2f "
      "%%\n",
      100 * found.breaks.value(), found.breaks.all, 100 * found.numbers.value(),
      100 * found.forms.value());
  EXPECT_GE(found.breaks.value(), 0.995);
  EXPECT_GE(found.numbers.value(), 0.98);
  expect_covers("coefficients", found.coefficients, count);
  expect_covers("coefficients of the chosen form", found.of_chosen, count);
  expect_covers("prediction", found.predictions, count);
  expect_covers("prediction by the chosen form", found.of_any, count);
}

TEST_P(Truths, OneToFiveRegimesOfPaperForms) {
  const std::size_t count = cases(250);
  const Found found = find_regimes(synthetic::paper_study(), GetParam(), count);
  expect_found(found, count);
  EXPECT_GE(found.forms.value(), 0.98);
}

TEST_P(Truths, OneToFiveRegimesOfTheDictionary) {
  const std::size_t count = cases(100);
  const Found found = find_regimes(synthetic::dictionary_study(), GetParam(), count);
  expect_found(found, count);
  EXPECT_GE(found.forms.value(), 0.85);
}

// One curve of lines, a jump or a kink between one and the next.
struct Curve {
  std::vector<double> breaks;
  std::vector<bool> kinks;
  std::vector<Line> lines;

  double operator()(double x) const {
    const auto piece = std::ranges::lower_bound(breaks, x) - breaks.begin();
    const Line& line = lines[static_cast<std::size_t>(piece)];
    return line.intercept + line.slope * x;
  }
};

// At a kink the share of the slope in the time changes by 0.35 or more.
Curve random_curve(const std::vector<double>& sizes, std::size_t pieces, Random& random) {
  const std::vector<std::size_t> rows = synthetic::random_rows(sizes.size(), pieces, random);
  Curve curve;
  double time = random.log_uniform(0.1, 100);
  double edge = sizes[rows[1] / 2];
  double share = random.uniform(0.05, 0.5);
  for (std::size_t k = 0; k < pieces; ++k) {
    if (k > 0) {
      edge = std::floor(random.uniform(sizes[rows[k] - 1], sizes[rows[k]]));
      time = curve(edge);
      const double before = curve.lines.back().slope * edge / time;
      const bool kink = random.chance(0.5);
      share = random.uniform(0.1, 0.95);
      if (kink)
        share =
            before < 0.5 ? random.uniform(before + 0.35, 1) : random.uniform(0.05, before - 0.35);
      else
        time *= random.chance(0.7) ? random.log_uniform(1.3, 3) : random.log_uniform(0.4, 0.75);
      curve.breaks.push_back(edge);
      curve.kinks.push_back(kink);
    }
    curve.lines.push_back({time * (1 - share), time * share / edge, true});
  }
  return curve;
}

TEST_P(Truths, JumpsAndKinksAreToldApart) {
  const std::vector<double> sizes = synthetic::sizes(1, 1 << 22, 70);
  const std::size_t count = cases(200);
  Share numbers, breaks, kinds;
  for (std::size_t c = 0; c < count; ++c) {
    Random random(c);
    const Curve curve = random_curve(sizes, 1 + c % 5, random);
    const Noise noise = noise_of(GetParam(), random);
    std::vector<CurvePoint> points;
    for (std::size_t g = 0; g < kLaunches; ++g) {
      Launch launch(noise, random);
      for (double x : sizes) points.push_back({x, 0, g, launch.value(curve(x))});
    }
    const Segmentation found = segment(points);
    numbers.count(found.breaks.size() == curve.breaks.size());
    for (std::size_t b = 0; b < curve.breaks.size(); ++b) {
      breaks.count(steps_away(sizes, curve.breaks[b], found) <= 1);
      if (found.breaks.size() == curve.breaks.size())
        kinds.count((found.breaks[b].kind == BreakKind::kink) == curve.kinks[b]);
    }
  }
  std::printf(
      "    breaks within a step %.2f %% of %zu, right number of pieces %.2f %%, right kind %.2f "
      "%%\n",
      100 * breaks.value(), breaks.all, 100 * numbers.value(), 100 * kinds.value());
  EXPECT_GE(breaks.value(), 0.995);
  EXPECT_GE(numbers.value(), 0.98);
  EXPECT_GE(kinds.value(), 0.99);
}

}  // namespace
}  // namespace foretrace::stats
