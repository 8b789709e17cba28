#include "stats/relative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "stats/summary.hpp"

namespace foretrace::stats {
namespace {

// Where Hampel's weight begins to fall and where it is 0, in standard deviations.
constexpr double kFull = 3;
constexpr double kNone = 6;
// A fit that crosses zero still has a relative error: f counts as at least this
// share of what was seen there.
constexpr double kLeastShare = 0.2;
// So many observations of one row that agree are no wild ones, however far the fit is.
constexpr std::size_t kWitnesses = 3;
// Change of the fitted values at which the iteration has settled.
constexpr double kSettled = 1e-9;
// Steps of least absolute deviations before scales mean anything.
constexpr int kFirstSteps = 10;

double hampel(double u) {
  u = std::fabs(u);
  if (u <= kFull) return 1;
  if (u >= kNone) return 0;
  return kFull * (kNone - u) / ((kNone - kFull) * u);
}

class Fitter {
 public:
  Fitter(const RelativeProblem& problem, const RelativeSettings& settings)
      : problem_(problem), settings_(settings), n_(problem.y.size()) {
    if (!problem.group.empty() && problem.group.size() != n_)
      throw std::invalid_argument("every value needs its group");
    for (const Column& column : problem.columns)
      if (column.values.size() != n_)
        throw std::invalid_argument("every column needs a value for every point");
  }

  RelativeFit run() {
    fit_.unknowns.resize(problem_.columns.size());
    fit_.fitted.assign(n_, 0);
    fit_.weights.assign(n_, 0);
    find_usable();
    fit_.points = usable_.size();
    if (usable_.empty()) {
      note(Note::no_points);
      return finish();
    }
    const auto value = [this](std::size_t i) { return problem_.y[i]; };
    const auto [least, most] = std::ranges::minmax(usable_, {}, value);
    for (std::size_t i : usable_) fit_.weights[i] = 1;
    if (problem_.y[most] == 0) {
      note(Note::all_zero);
      return finish();
    }
    if (problem_.y[least] == problem_.y[most] && usable_.size() > 1) note(Note::constant);
    find_levels();
    start();
    iterate();
    describe();
    return finish();
  }

 private:
  void note(Note what) { notes_.insert(what); }

  void find_usable() {
    for (std::size_t i = 0; i < n_; ++i) {
      const double y = problem_.y[i];
      if (std::isfinite(y) && y >= 0 && (y > 0 || problem_.negligible > 0))
        usable_.push_back(i);
      else
        note(Note::left_out);
    }
    // Nothing but zeros is a result, not a lack of one.
    if (usable_.empty() && n_ > 0 &&
        std::ranges::all_of(problem_.y, [](double y) { return y == 0; })) {
      notes_.erase(Note::left_out);
      for (std::size_t i = 0; i < n_; ++i) usable_.push_back(i);
    }
  }

  // What is usually seen at each distinct row.
  void find_levels() {
    const std::vector<std::size_t> row = distinct_rows(n_, problem_.columns);
    std::map<std::size_t, std::vector<double>> values;
    for (std::size_t i : usable_) {
      std::vector<double>& of_row = values[row[i]];
      if (of_row.empty()) first_of_row_.push_back(i);
      of_row.push_back(problem_.y[i]);
    }
    std::map<std::size_t, double> middle;
    for (const auto& [r, of_row] : values) middle[r] = median(of_row);
    usual_.assign(n_, 0);
    for (std::size_t i : usable_) usual_[i] = middle[row[i]];
    for (const auto& [r, of_row] : values)
      if (of_row.size() >= kWitnesses) witnessed_.emplace_back();
    std::map<std::size_t, std::size_t> places;
    for (std::size_t i : usable_)
      if (values[row[i]].size() >= kWitnesses)
        witnessed_[places.emplace(row[i], places.size()).first->second].push_back(i);
    std::map<std::size_t, std::size_t> numbers;
    group_.assign(n_, 0);
    for (std::size_t i : usable_)
      group_[i] = problem_.group.empty()
                      ? 0
                      : numbers.emplace(problem_.group[i], numbers.size()).first->second;
    groups_ = std::max<std::size_t>(numbers.size(), 1);
  }

  double base(std::size_t i) const {
    return std::max({fit_.fitted[i], kLeastShare * usual_[i], problem_.negligible});
  }
  double residual(std::size_t i, double y) const { return (y - fit_.fitted[i]) / base(i); }

  // Weighted least squares of the observations in `taken`, relative to the present fit. Returns
  // the largest relative change of a fitted value.
  double solve(const std::vector<double>& y, const std::vector<std::size_t>& taken) {
    std::vector<double> values, sigma;
    for (std::size_t i : taken) {
      values.push_back(y[i]);
      sigma.push_back(base(i) / std::sqrt(fit_.weights[i]));
    }
    std::vector<Column> columns;
    for (const Column& column : problem_.columns) {
      Column& part = columns.emplace_back();
      part.non_negative = column.non_negative;
      part.values.reserve(taken.size());
      for (std::size_t i : taken) part.values.push_back(column.values[i]);
    }
    fit_.unknowns = fit_least_squares(values, sigma, columns, ErrorSource::residuals).unknowns;
    double change = 0;
    for (std::size_t i : usable_) {
      const double before = fit_.fitted[i];
      const double fitted = value_at(i);
      change = std::max(change, std::fabs(fitted - before) / base(i));
      fit_.fitted[i] = fitted;
    }
    return change;
  }

  double value_at(std::size_t i) const {
    double value = 0;
    for (std::size_t j = 0; j < problem_.columns.size(); ++j)
      value += fit_.unknowns[j].value * problem_.columns[j].values[i];
    return value;
  }

  // Least absolute deviations from the rows' medians: no wild value among them as
  // long as most of the groups agree, and bounded influence of any that is left.
  void start() {
    fit_.fitted = usual_;
    for (int step = 0; step < kFirstSteps; ++step) {
      solve(usual_, first_of_row_);
      for (std::size_t i : first_of_row_)
        fit_.weights[i] = settings_.least_scale /
                          std::max(std::fabs(residual(i, usual_[i])), settings_.least_scale);
    }
  }

  void weigh() {
    std::vector<std::vector<double>> by_group(groups_);
    for (std::size_t i : usable_) by_group[group_[i]].push_back(residual(i, problem_.y[i]));
    std::vector<double> level(groups_, 0);
    if (groups_ > 1)
      for (std::size_t g = 0; g < groups_; ++g)
        if (!by_group[g].empty()) level[g] = median(by_group[g]);
    std::vector<double> distances;
    for (std::size_t i : usable_)
      distances.push_back(std::fabs(residual(i, problem_.y[i]) - level[group_[i]]));
    const auto used = static_cast<double>(std::ranges::count_if(fit_.unknowns, &Unknown::used));
    const auto n = static_cast<double>(usable_.size());
    const double degrees = std::max(n - used - static_cast<double>(groups_ - 1), 1.0);
    fit_.scale = kMadToSigma * median(distances) * std::sqrt(n / degrees);
    const double scale = std::max(fit_.scale, settings_.least_scale);
    const auto distance = [&](std::size_t i) {
      return residual(i, problem_.y[i]) - level[group_[i]];
    };
    for (std::size_t i : usable_) fit_.weights[i] = hampel(distance(i) / scale);
    for (const std::vector<std::size_t>& of_row : witnessed_) {
      std::vector<double> seen;
      for (std::size_t i : of_row) seen.push_back(distance(i));
      const double middle = median(seen);
      for (std::size_t k = 0; k < of_row.size(); ++k)
        fit_.weights[of_row[k]] =
            std::max(fit_.weights[of_row[k]], hampel((seen[k] - middle) / scale));
    }
  }

  void iterate() {
    for (int i = 0; i < settings_.most_iterations; ++i) {
      weigh();
      std::vector<std::size_t> taken;
      for (std::size_t k : usable_)
        if (fit_.weights[k] > 0) taken.push_back(k);
      if (solve(problem_.y, taken) < kSettled) return;
    }
    note(Note::not_settled);
  }

  void describe() {
    for (std::size_t i : usable_) fit_.rejected += fit_.weights[i] == 0;
    if (5 * fit_.rejected > usable_.size()) note(Note::many_outliers);
    const auto used =
        static_cast<std::size_t>(std::ranges::count_if(fit_.unknowns, &Unknown::used));
    if (first_of_row_.size() <= used) note(Note::too_few_points);
    for (std::size_t j = 0; j < problem_.columns.size(); ++j)
      if (!fit_.unknowns[j].used && !problem_.columns[j].non_negative)
        note(Note::dependent_columns);
  }

  RelativeFit finish() {
    for (std::size_t i = 0; i < n_; ++i) fit_.fitted[i] = value_at(i);
    fit_.notes.assign(notes_.begin(), notes_.end());
    return std::move(fit_);
  }

  const RelativeProblem& problem_;
  const RelativeSettings& settings_;
  std::size_t n_;
  std::vector<std::size_t> usable_;
  std::vector<std::size_t> first_of_row_;            // one observation of each distinct row
  std::vector<double> usual_;                        // per observation: the median of its row
  std::vector<std::vector<std::size_t>> witnessed_;  // the observations of each row with enough
  std::vector<std::size_t> group_;                   // per observation, counted from 0
  std::size_t groups_ = 1;
  RelativeFit fit_;
  std::set<Note> notes_;
};

}  // namespace

std::vector<std::size_t> distinct_rows(std::size_t observations, std::span<const Column> columns) {
  std::vector<std::size_t> order(observations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [columns](std::size_t a, std::size_t b) {
    for (const Column& column : columns)
      if (column.values[a] != column.values[b]) return column.values[a] < column.values[b] ? -1 : 1;
    return 0;
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  // The first of each run of equal rows is the one that appeared first.
  std::vector<std::size_t> first(observations);
  for (std::size_t k = 0; k < observations; ++k)
    first[order[k]] =
        k > 0 && compare(order[k - 1], order[k]) == 0 ? first[order[k - 1]] : order[k];
  std::vector<std::size_t> rows(observations);
  std::size_t count = 0;
  for (std::size_t i = 0; i < observations; ++i) rows[i] = first[i] == i ? count++ : rows[first[i]];
  return rows;
}

RelativeFit fit_relative(const RelativeProblem& problem, const RelativeSettings& settings) {
  return Fitter(problem, settings).run();
}

RelativeErrors relative_errors(std::span<const double> y, std::span<const double> fitted,
                               double negligible, const std::vector<bool>& flags) {
  RelativeErrors errors;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double base = std::max(y[i], negligible);
    if ((!flags.empty() && !flags[i]) || !std::isfinite(y[i]) || !(base > 0)) continue;
    const double error = std::fabs(fitted[i] - y[i]) / base;
    errors.mean += error;
    if (errors.points == 0 || error > errors.max) {
      errors.max = error;
      errors.worst = i;
    }
    ++errors.points;
  }
  if (errors.points > 0) errors.mean /= static_cast<double>(errors.points);
  return errors;
}

}  // namespace foretrace::stats
