#include "stats/group_errors.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "stats/least_squares.hpp"
#include "stats/summary.hpp"

namespace foretrace::stats {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Below this reciprocal condition a resample does not determine the fit.
constexpr double kSingular = 1e-9;

// One group's share of the normal equations in an orthonormal basis.
struct Share {
  Matrix information;
  Vector score;
  double squares = 0;  // of the weighted y
  double weight = 0;   // sum of the robust weights
};

// A resample: how often each group was drawn, and its probability.
struct Resample {
  std::vector<int> times;
  double probability = 0;
};

double binomial(std::size_t n, std::size_t k) {
  double value = 1;
  for (std::size_t i = 1; i <= k; ++i)
    value = value * static_cast<double>(n - k + i) / static_cast<double>(i);
  return value;
}

void enumerate(std::vector<int>& times, std::size_t group, int left, std::vector<Resample>& all) {
  if (group + 1 == times.size()) {
    times[group] = left;
    // G! / (prod m_g!) / G^G, by logarithms.
    const auto groups = static_cast<double>(times.size());
    double log_probability = std::lgamma(groups + 1) - groups * std::log(groups);
    for (int m : times) log_probability -= std::lgamma(m + 1.0);
    all.push_back({times, std::exp(log_probability)});
    return;
  }
  for (int m = 0; m <= left; ++m) {
    times[group] = m;
    enumerate(times, group + 1, left - m, all);
  }
}

std::vector<Resample> resamples_of(std::size_t groups, const GroupSettings& settings) {
  std::vector<Resample> all;
  if (binomial(2 * groups - 1, groups) <= static_cast<double>(settings.resamples)) {
    std::vector<int> times(groups, 0);
    enumerate(times, 0, static_cast<int>(groups), all);
    return all;
  }
  std::mt19937_64 random(settings.seed);
  for (std::size_t b = 0; b < settings.resamples; ++b) {
    Resample resample{std::vector<int>(groups, 0), 1 / static_cast<double>(settings.resamples)};
    // The distributions of <random> differ between libraries; this does not.
    for (std::size_t g = 0; g < groups; ++g) ++resample.times[random() % groups];
    all.push_back(std::move(resample));
  }
  return all;
}

class Estimator {
 public:
  Estimator(const RelativeProblem& problem, const RelativeFit& fit, const GroupSettings& settings)
      : problem_(problem), fit_(fit), settings_(settings) {}

  GroupErrors run(std::vector<std::size_t> columns) {
    const std::size_t m = problem_.columns.size();
    errors_.coefficients.resize(m);
    errors_.errors.assign(m, 0);
    errors_.coverage = settings_.coverage;
    errors_.negligible = problem_.negligible;
    errors_.notes = fit_.notes;
    for (std::size_t j = 0; j < m; ++j) {
      errors_.values.push_back(fit_.unknowns[j].value);
      errors_.non_negative.push_back(problem_.columns[j].non_negative);
    }
    if (columns.empty())
      for (std::size_t j = 0; j < m; ++j) columns.push_back(j);
    for (std::size_t i = 0; i < problem_.y.size(); ++i)
      if (fit_.weights[i] > 0) taken_.push_back(i);
    if (taken_.empty() || !weigh()) return std::move(errors_);
    orthogonalise(columns);
    divide();
    measure_points();
    const Matrix covariance = errors_.groups > 1 ? bootstrap() : scatter();
    store(covariance);
    return std::move(errors_);
  }

 private:
  void note(Note what) {
    if (std::ranges::find(errors_.notes, what) == errors_.notes.end())
      errors_.notes.push_back(what);
    std::ranges::sort(errors_.notes);
  }

  // What a relative error of each observation is measured by. False: all of it is zero.
  bool weigh() {
    double most = 0;
    for (std::size_t i : taken_) most = std::max(most, std::fabs(problem_.y[i]));
    for (std::size_t i : taken_) {
      const double base = std::max({fit_.fitted[i], 0.2 * problem_.y[i], problem_.negligible});
      root_weight_.push_back(base > 0 ? std::sqrt(fit_.weights[i]) / base : 0);
    }
    return most > 0;
  }

  // Q (orthonormal) and R with weighted columns = Q R, of the independent ones.
  void orthogonalise(const std::vector<std::size_t>& columns) {
    const auto n = static_cast<Eigen::Index>(taken_.size());
    std::vector<Vector> basis;
    std::vector<Vector> triangle;
    for (std::size_t j : columns) {
      Vector rest(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        rest[i] = root_weight_[k] * problem_.columns[j].values[taken_[k]];
      }
      const double length = rest.norm();
      Vector along = Vector::Zero(static_cast<Eigen::Index>(columns.size()));
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t b = 0; b < basis.size(); ++b) {
          const double part = basis[b].dot(rest);
          along[static_cast<Eigen::Index>(b)] += part;
          rest -= part * basis[b];
        }
      if (!(rest.norm() > kDependent * length)) {
        note(Note::dependent_columns);
        continue;
      }
      along[static_cast<Eigen::Index>(basis.size())] = rest.norm();
      basis.push_back(rest.normalized());
      triangle.push_back(along);
      errors_.free.push_back(j);
    }
    const auto q = static_cast<Eigen::Index>(basis.size());
    q_.resize(n, q);
    r_.resize(q, q);
    for (Eigen::Index j = 0; j < q; ++j) {
      q_.col(j) = basis[static_cast<std::size_t>(j)];
      r_.col(j) = triangle[static_cast<std::size_t>(j)].head(q);
    }
  }

  void divide() {
    const Eigen::Index q = q_.cols();
    std::map<std::size_t, std::size_t> numbers;
    for (std::size_t k = 0; k < taken_.size(); ++k) {
      const std::size_t i = taken_[k];
      const std::size_t g = problem_.group.empty()
                                ? 0
                                : numbers.emplace(problem_.group[i], numbers.size()).first->second;
      if (g == shares_.size()) shares_.push_back({Matrix::Zero(q, q), Vector::Zero(q), 0, 0});
      Share& share = shares_[g];
      const auto row = q_.row(static_cast<Eigen::Index>(k));
      const double y = root_weight_[k] * problem_.y[i];
      share.information += row.transpose() * row;
      share.score += y * row.transpose();
      share.squares += y * y;
      share.weight += fit_.weights[i];
    }
    errors_.groups = shares_.size();
    solution_ = Vector::Zero(q);
    for (const Share& share : shares_) solution_ += share.score;
    if (errors_.groups == 1) note(Note::one_group);
    if (errors_.groups == 2) note(Note::few_groups);
  }

  // The scatter of points about their own group's fit.
  void measure_points() {
    const auto q = static_cast<double>(q_.cols());
    double squares = 0;
    for (const Share& share : shares_) {
      const double degrees = share.weight - q;
      const Eigen::LDLT<Matrix> solver(share.information);
      if (degrees < 0.5 || !(solver.rcond() > kSingular)) continue;
      squares += std::max(0.0, share.squares - share.score.dot(solver.solve(share.score)));
      errors_.point_degrees += degrees;
    }
    if (errors_.point_degrees > 0) {
      errors_.point_scale = std::sqrt(squares / errors_.point_degrees);
      return;
    }
    // No group has points to spare: what the whole fit leaves over, if anything.
    errors_.point_scale = fit_.scale;
    errors_.point_degrees = std::max(static_cast<double>(taken_.size()) - q, 1.0);
  }

  // Covariance of the solution: the bootstrap's, corrected for the number of groups.
  Matrix bootstrap() {
    const Eigen::Index q = q_.cols();
    std::vector<Vector> solutions;
    std::vector<double> probabilities;
    for (const Resample& resample : resamples_of(errors_.groups, settings_)) {
      Matrix information = Matrix::Zero(q, q);
      Vector score = Vector::Zero(q);
      for (std::size_t g = 0; g < shares_.size(); ++g) {
        if (resample.times[g] == 0) continue;
        information += resample.times[g] * shares_[g].information;
        score += resample.times[g] * shares_[g].score;
      }
      const Eigen::LDLT<Matrix> solver(information);
      if (q > 0 && !(solver.rcond() > kSingular)) continue;
      solutions.push_back(solver.solve(score));
      probabilities.push_back(resample.probability);
    }
    double total = 0;
    Vector mean = Vector::Zero(q);
    for (std::size_t b = 0; b < solutions.size(); ++b) {
      mean += probabilities[b] * solutions[b];
      total += probabilities[b];
    }
    Matrix covariance = Matrix::Zero(q, q);
    if (total > 0) mean /= total;
    for (std::size_t b = 0; b < solutions.size(); ++b) {
      const Vector away = solutions[b] - mean;
      covariance += probabilities[b] / total * away * away.transpose();
    }
    const auto groups = static_cast<double>(errors_.groups);
    errors_.degrees_of_freedom = groups - 1;
    return covariance * (groups / (groups - 1));
  }

  Matrix scatter() {
    errors_.degrees_of_freedom =
        std::max(static_cast<double>(taken_.size()) - static_cast<double>(q_.cols()), 0.0);
    const double variance = errors_.point_scale * errors_.point_scale;
    return variance * Matrix::Identity(q_.cols(), q_.cols());
  }

  void store(const Matrix& covariance) {
    const Eigen::Index q = q_.cols();
    const Matrix inverse = r_.triangularView<Eigen::Upper>().solve(Matrix(Matrix::Identity(q, q)));
    const Vector values = inverse * solution_;
    const Matrix of_values = inverse * covariance * inverse.transpose();
    const Matrix leverage = static_cast<double>(errors_.groups) * inverse * inverse.transpose();
    errors_.unconstrained.assign(values.begin(), values.end());
    for (Eigen::Index a = 0; a < q; ++a)
      for (Eigen::Index b = 0; b < q; ++b) {
        errors_.covariance.push_back(of_values(a, b));
        errors_.leverage.push_back(leverage(a, b));
      }
    const double t = errors_.degrees_of_freedom > 0
                         ? student(settings_.coverage, errors_.degrees_of_freedom)
                         : 0;
    for (Eigen::Index a = 0; a < q; ++a) {
      const std::size_t j = errors_.free[static_cast<std::size_t>(a)];
      const double error = std::sqrt(std::max(of_values(a, a), 0.0));
      double lower = values[a] - t * error;
      double upper = values[a] + t * error;
      if (problem_.columns[j].non_negative) {
        lower = std::max(lower, 0.0);
        upper = std::max(upper, 0.0);
      }
      errors_.errors[j] = error;
      errors_.coefficients[j] = {std::min(lower, errors_.values[j]),
                                 std::max(upper, errors_.values[j])};
    }
  }

  const RelativeProblem& problem_;
  const RelativeFit& fit_;
  const GroupSettings& settings_;
  GroupErrors errors_;
  std::vector<std::size_t> taken_;   // observations with weight
  std::vector<double> root_weight_;  // per taken one
  Matrix q_;
  Matrix r_;
  Vector solution_;
  std::vector<Share> shares_;
};

double quadratic(const std::vector<double>& matrix, const std::vector<double>& row) {
  double sum = 0;
  for (std::size_t a = 0; a < row.size(); ++a)
    for (std::size_t b = 0; b < row.size(); ++b)
      sum += row[a] * matrix[a * row.size() + b] * row[b];
  return std::max(sum, 0.0);
}

struct AtRow {
  double value = 0;  // of the fit
  double unconstrained = 0;
  std::vector<double> row;  // the free columns
};

AtRow at(const GroupErrors& errors, std::span<const double> row) {
  if (row.size() != errors.values.size())
    throw std::invalid_argument("a row needs a value for every column");
  AtRow result;
  for (std::size_t j = 0; j < row.size(); ++j) result.value += row[j] * errors.values[j];
  for (std::size_t a = 0; a < errors.free.size(); ++a) {
    result.row.push_back(row[errors.free[a]]);
    result.unconstrained += result.row.back() * errors.unconstrained[a];
  }
  return result;
}

Interval around(const AtRow& point, double half) {
  return {std::min(point.unconstrained - half, point.value),
          std::max(point.unconstrained + half, point.value)};
}

}  // namespace

GroupErrors group_errors(const RelativeProblem& problem, const RelativeFit& fit,
                         const GroupSettings& settings, const std::vector<std::size_t>& columns) {
  if (!(settings.coverage > 0 && settings.coverage < 1))
    throw std::invalid_argument("the coverage must be between 0 and 1");
  return Estimator(problem, fit, settings).run(columns);
}

Interval GroupErrors::confidence(std::span<const double> row) const {
  const AtRow point = at(*this, row);
  if (degrees_of_freedom <= 0) return around(point, 0);
  return around(
      point, student(coverage, degrees_of_freedom) * std::sqrt(quadratic(covariance, point.row)));
}

Interval GroupErrors::prediction(std::span<const double> row) const {
  const AtRow point = at(*this, row);
  if (degrees_of_freedom <= 0) return around(point, 0);
  const auto count = static_cast<double>(groups);
  const double base = std::max(point.unconstrained, negligible);
  const double scatter = point_scale * point_scale;
  const double curve = quadratic(covariance, point.row);
  // What the groups' own fits differ by at this row, and how much of that is
  // their points' scatter alone.
  const double between = groups > 1 ? count * curve : 0;
  const double apparent = scatter * quadratic(leverage, point.row);
  double of_groups = curve;
  double of_points = scatter * base * base;
  if (between > apparent) {
    of_groups = between + curve;
    of_points = std::max(of_points - apparent, 0.0);
  }
  const double variance = of_groups + of_points;
  if (!(variance > 0)) return around(point, 0);
  const double degrees = variance * variance /
                         (of_groups * of_groups / degrees_of_freedom +
                          of_points * of_points / std::max(point_degrees, 1.0));
  return around(point, student(coverage, degrees) * std::sqrt(variance));
}

}  // namespace foretrace::stats
