#include "stats/column_choice.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace foretrace::stats {
namespace {

// Mean squares below this (a relative error of 1e-5) are an exact fit: of two
// exact fits the one with fewer columns is better.
constexpr double kExact = 1e-10;

// Enough to know which observations are wild.
constexpr int kRoughIterations = 3;

// The sum of squares of any subset of columns can be had from this in place of
// all rows: the triangular factor of the weighted columns, and of y beside them.
struct Reduced {
  std::vector<Column> columns;
  std::vector<double> y;
  double rows = 0;
};

Reduced reduce(const RelativeProblem& problem, const RelativeFit& all) {
  const std::size_t m = problem.columns.size();
  const std::vector<std::size_t> row = distinct_rows(problem.y.size(), problem.columns);
  struct Mean {
    std::size_t first = 0;
    double weight = 0;
    double sum = 0;
  };
  std::vector<Mean> means;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == means.size()) means.push_back({i, 0, 0});
    means[row[i]].weight += all.weights[i];
    means[row[i]].sum += all.weights[i] > 0 ? all.weights[i] * problem.y[i] : 0;
  }
  std::erase_if(means, [](const Mean& mean) { return mean.weight == 0; });
  const auto rows = static_cast<Eigen::Index>(means.size());
  const auto columns = static_cast<Eigen::Index>(m);
  Eigen::MatrixXd design = Eigen::MatrixXd::Zero(std::max(rows, columns + 1), columns + 1);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Mean& mean = means[static_cast<std::size_t>(r)];
    const double y = mean.sum / mean.weight;
    const double base = std::max(y, problem.negligible);
    if (!(base > 0)) continue;
    for (std::size_t j = 0; j < m; ++j)
      design(r, static_cast<Eigen::Index>(j)) = problem.columns[j].values[mean.first] / base;
    design(r, columns) = y / base;
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(design);
  const Eigen::MatrixXd factor = qr.matrixQR().topRows(columns + 1).triangularView<Eigen::Upper>();
  Reduced reduced;
  reduced.rows = static_cast<double>(rows);
  for (std::size_t j = 0; j < m; ++j) {
    const auto column = factor.col(static_cast<Eigen::Index>(j));
    reduced.columns.push_back({{column.begin(), column.end()}, problem.columns[j].non_negative});
  }
  reduced.y.assign(factor.col(columns).begin(), factor.col(columns).end());
  return reduced;
}

double criterion_of(Criterion criterion, double n, double squares, double k) {
  const double misfit = n * std::log(squares / n + kExact);
  if (criterion == Criterion::bic) return misfit + k * std::log(n);
  if (n - k - 1 <= 0) return std::numeric_limits<double>::infinity();
  return misfit + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

RelativeProblem with_columns(const RelativeProblem& problem, const ColumnSet& set) {
  RelativeProblem part{problem.y, problem.group, {}, problem.negligible};
  for (std::size_t j : set) part.columns.push_back(problem.columns[j]);
  return part;
}

// The choice alone, without a fit of all observations.
Choice judge(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates,
             const ChoiceSettings& settings) {
  RelativeSettings rough = settings.fit;
  rough.most_iterations = kRoughIterations;
  const Reduced reduced = reduce(problem, fit_relative(problem, rough));
  const std::vector<double> ones(reduced.y.size(), 1);
  Choice choice;
  double least = std::numeric_limits<double>::infinity();
  for (const ColumnSet& candidate : candidates) {
    std::vector<Column> columns;
    for (std::size_t j : candidate) columns.push_back(reduced.columns[j]);
    const FitResult fit = fit_least_squares(reduced.y, ones, columns, ErrorSource::sigma);
    const auto used = static_cast<double>(std::ranges::count_if(fit.unknowns, &Unknown::used));
    const double value = reduced.rows > 0
                             ? criterion_of(settings.criterion, reduced.rows, fit.chi_squared, used)
                             : 0;
    if (choice.criteria.empty() || value < least - 1e-9 * std::fabs(least)) {
      least = value;
      choice.candidate = choice.criteria.size();
      choice.columns.clear();
      for (std::size_t j = 0; j < candidate.size(); ++j)
        if (fit.unknowns[j].used) choice.columns.push_back(candidate[j]);
    }
    choice.criteria.push_back(value);
  }
  choice.criterion = least;
  return choice;
}

}  // namespace

std::vector<ColumnSet> subsets(std::size_t columns, std::size_t most, const ColumnSet& always) {
  std::vector<ColumnSet> sets;
  const std::size_t end = std::size_t{1} << columns;
  for (std::size_t mask = 1; mask < end; ++mask) {
    ColumnSet set;
    for (std::size_t j = 0; j < columns; ++j)
      if (mask >> j & 1) set.push_back(j);
    const bool complete =
        std::ranges::all_of(always, [mask](std::size_t j) { return (mask >> j & 1) != 0; });
    if (complete && set.size() <= most) sets.push_back(std::move(set));
  }
  std::ranges::stable_sort(sets, {}, &ColumnSet::size);
  return sets;
}

Choice choose_columns(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates,
                      const ChoiceSettings& settings) {
  if (candidates.empty()) throw std::invalid_argument("nothing to choose from");
  Choice choice = judge(problem, candidates, settings);
  choice.fit = fit_relative(with_columns(problem, choice.columns), settings.fit);
  std::vector<Unknown> unknowns(problem.columns.size());
  for (std::size_t j = 0; j < choice.columns.size(); ++j)
    unknowns[choice.columns[j]] = choice.fit.unknowns[j];
  choice.fit.unknowns = std::move(unknowns);
  std::erase_if(choice.columns, [&](std::size_t j) { return !choice.fit.unknowns[j].used; });
  return choice;
}

HeldOut predict_held_out(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates,
                         const std::vector<bool>& held_out, const ChoiceSettings& settings) {
  if (held_out.size() != problem.y.size())
    throw std::invalid_argument("every value needs its flag");
  RelativeProblem seen;
  seen.negligible = problem.negligible;
  for (const Column& column : problem.columns) seen.columns.push_back({{}, column.non_negative});
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    if (held_out[i]) continue;
    seen.y.push_back(problem.y[i]);
    if (!problem.group.empty()) seen.group.push_back(problem.group[i]);
    for (std::size_t j = 0; j < problem.columns.size(); ++j)
      seen.columns[j].values.push_back(problem.columns[j].values[i]);
  }
  HeldOut result;
  result.choice = choose_columns(seen, candidates, settings);
  std::vector<double> fitted(problem.y.size(), 0);
  for (std::size_t i = 0; i < fitted.size(); ++i)
    for (std::size_t j : result.choice.columns)
      fitted[i] += result.choice.fit.unknowns[j].value * problem.columns[j].values[i];
  result.errors = relative_errors(problem.y, fitted, problem.negligible, held_out);
  return result;
}

}  // namespace foretrace::stats
