// Synthetic functions with several regimes: an equation of its own in each, and a jump
// between them.
#pragma once

#include <algorithm>
#include <vector>

#include "stats/column_choice.hpp"
#include "stats/segmentation.hpp"
#include "synthetic.hpp"

namespace foretrace::stats::synthetic {

struct RegimeTruth {
  Truth truth;
  ColumnSet columns;  // its terms among the study's columns
};

struct FunctionTruth {
  std::vector<double> breaks;  // last size of each regime but the highest
  std::vector<RegimeTruth> regimes;

  std::size_t regime_of(double d) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(breaks, d) - breaks.begin());
  }
  double operator()(double p, double d) const { return regimes[regime_of(d)].truth(p, d); }
};

// What is fitted: the columns, the sets of them that are chosen among, and where it is measured.
struct Study {
  std::vector<Term> columns;
  std::vector<ColumnSet> candidates;  // to choose among
  std::vector<ColumnSet> forms;       // that a truth may have
  std::vector<double> ranks;
  std::vector<double> sizes = synthetic::sizes(1, 1 << 22, 70);
};

inline Study paper_study() {
  const std::vector<Form> forms = paper_forms();
  Study study;
  study.columns = {forms[0].terms[0]};
  for (std::size_t f = 0; f < 3; ++f) study.columns.push_back(forms[4 * f].terms[1]);
  for (std::size_t g = 0; g < 4; ++g) study.columns.push_back(forms[g].terms[2]);
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t g = 0; g < 4; ++g) study.candidates.push_back({0, 1 + f, 4 + g});
  study.forms = study.candidates;
  study.ranks = {2, 4, 8, 16};
  return study;
}

// A constant, one start-up or none, and one term of the data.
inline Study dictionary_study() {
  Study study;
  study.columns = dictionary();
  study.candidates = subsets(study.columns.size(), 4, {0});
  for (std::size_t data = 3; data < 7; ++data) {
    study.forms.push_back({0, data});
    study.forms.push_back({0, 1, data});
    study.forms.push_back({0, 2, data});
  }
  study.ranks = {2, 3, 4, 6, 8, 12, 16};
  return study;
}

// First rows of so many pieces of at least 7 of n rows, and n.
inline std::vector<std::size_t> random_rows(std::size_t n, std::size_t pieces, Random& random) {
  constexpr std::size_t kLeast = 7;
  std::vector<std::size_t> rows;
  do {
    rows = {0, n};
    for (std::size_t k = 1; k < pieces; ++k) rows.push_back(random.below(n));
    std::ranges::sort(rows);
  } while (std::ranges::adjacent_find(
               rows, [](std::size_t a, std::size_t b) { return b < a + kLeast; }) != rows.end());
  return rows;
}

// Times jump to 0.35..0.7 or 1.4..3 times at the middle ranks.
inline FunctionTruth random_function(const Study& study, std::size_t regimes, Random& random) {
  constexpr double kMiddleRanks = 6;
  const std::vector<std::size_t> rows = random_rows(study.sizes.size(), regimes, random);
  FunctionTruth function;
  for (std::size_t k = 0; k < regimes; ++k) {
    RegimeTruth& regime = function.regimes.emplace_back();
    regime.columns = study.forms[random.below(study.forms.size())];
    std::vector<Term> terms;
    for (std::size_t j : regime.columns) terms.push_back(study.columns[j]);
    const double middle = study.sizes[(rows[k] + rows[k + 1]) / 2];
    regime.truth = random_truth(terms, kMiddleRanks, middle, random);
    if (k == 0) continue;
    const double edge = std::floor(random.uniform(study.sizes[rows[k] - 1], study.sizes[rows[k]]));
    const double ratio =
        random.chance(0.7) ? random.log_uniform(1.4, 3) : random.log_uniform(0.35, 0.7);
    const double scale = ratio * function.regimes[k - 1].truth(kMiddleRanks, edge) /
                         regime.truth(kMiddleRanks, edge);
    for (double& coefficient : regime.truth.coefficients) coefficient *= scale;
    function.breaks.push_back(edge);
  }
  return function;
}

inline std::vector<CurvePoint> measure(const Study& study, const FunctionTruth& function,
                                       std::size_t launches, const Noise& noise, Random& random) {
  std::vector<CurvePoint> points;
  for (std::size_t g = 0; g < launches; ++g) {
    Launch launch(noise, random);
    for (std::size_t c = 0; c < study.ranks.size(); ++c)
      for (double d : study.sizes)
        points.push_back({d, c, g, launch.value(function(study.ranks[c], d))});
  }
  return points;
}

// The points of one piece, with every column of the study or those given.
inline RelativeProblem piece_problem(const Study& study, const std::vector<CurvePoint>& points,
                                     const Segmentation& pieces, std::size_t piece,
                                     const ColumnSet& columns) {
  RelativeProblem problem;
  for (std::size_t j : columns) problem.columns.push_back({{}, j > 0});
  for (const CurvePoint& point : points) {
    if (pieces.piece_of(point.x) != piece) continue;
    problem.y.push_back(point.y);
    problem.group.push_back(point.group);
    for (std::size_t k = 0; k < columns.size(); ++k)
      problem.columns[k].values.push_back(
          study.columns[columns[k]](study.ranks[point.curve], point.x));
  }
  return problem;
}

}  // namespace foretrace::stats::synthetic
