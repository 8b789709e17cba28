#include "stats/least_squares.hpp"

#include <Eigen/Dense>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace foretrace::stats {
namespace {

// Chi-squared values closer than this are the same but for rounding.
constexpr double kSameChiSquared = 1e-9;

Eigen::VectorXd weighted(std::span<const double> values, std::span<const double> sigma) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = values[i] / sigma[i];
  return result;
}

// Indices of `candidates` whose columns are independent, in order.
std::vector<std::size_t> independent_columns(const std::vector<Eigen::VectorXd>& columns,
                                             const std::vector<std::size_t>& candidates) {
  std::vector<std::size_t> kept;
  std::vector<Eigen::VectorXd> basis;
  for (std::size_t j : candidates) {
    Eigen::VectorXd rest = columns[j];
    const double length = rest.norm();
    // Twice: the second pass removes what rounding left in the first.
    for (int pass = 0; pass < 2; ++pass)
      for (const Eigen::VectorXd& direction : basis) rest -= direction.dot(rest) * direction;
    if (!(rest.norm() > kDependent * length)) continue;
    basis.push_back(rest.normalized());
    kept.push_back(j);
  }
  return kept;
}

// Fits the columns in `used`, which are independent.
FitResult fit_columns(const Eigen::VectorXd& y, const std::vector<Eigen::VectorXd>& columns,
                      const std::vector<std::size_t>& used, ErrorSource errors) {
  FitResult result;
  result.unknowns.resize(columns.size());
  const auto n = static_cast<Eigen::Index>(used.size());
  Eigen::VectorXd residual = y;
  Eigen::MatrixXd inverse;
  Eigen::VectorXd scale(n);
  if (n > 0) {
    // Columns of length 1 keep the triangular factor well scaled.
    Eigen::MatrixXd design(y.size(), n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::VectorXd& column = columns[used[static_cast<std::size_t>(j)]];
      scale[j] = column.norm();
      design.col(j) = column / scale[j];
    }
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(design);
    const Eigen::VectorXd solution = qr.solve(y);
    residual = y - design * solution;
    const Eigen::MatrixXd r = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>();
    inverse =
        r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n)));
    for (Eigen::Index j = 0; j < n; ++j)
      result.unknowns[used[static_cast<std::size_t>(j)]].value = solution[j] / scale[j];
  }
  result.chi_squared = residual.squaredNorm();
  result.degrees_of_freedom = static_cast<std::size_t>(y.size() - n);
  result.q = goodness_of_fit(result.chi_squared, result.degrees_of_freedom);

  double widen = 1;
  if (errors != ErrorSource::sigma && result.degrees_of_freedom > 0) {
    widen = std::sqrt(result.chi_squared / static_cast<double>(result.degrees_of_freedom));
    if (errors == ErrorSource::larger) widen = std::max(widen, 1.0);
  }
  // The covariance is R^-1 R^-T, so a row of R^-1 is as long as the error.
  for (Eigen::Index j = 0; j < n; ++j) {
    Unknown& unknown = result.unknowns[used[static_cast<std::size_t>(j)]];
    unknown.error = widen * inverse.row(j).norm() / scale[j];
    unknown.used = true;
  }
  return result;
}

// The column that has to go: marked non_negative, with the most negative
// coefficient measured in its own standard errors.
std::optional<std::size_t> most_negative(const FitResult& fit, std::span<const Column> columns) {
  std::optional<std::size_t> worst;
  double worst_ratio = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Unknown& unknown = fit.unknowns[j];
    if (!unknown.used || !columns[j].non_negative || unknown.value >= 0) continue;
    const double ratio = unknown.error > 0 ? unknown.value / unknown.error : -HUGE_VAL;
    if (!worst || ratio < worst_ratio) {
      worst = j;
      worst_ratio = ratio;
    }
  }
  return worst;
}

}  // namespace

double goodness_of_fit(double chi_squared, std::size_t degrees_of_freedom) {
  if (degrees_of_freedom == 0) return 1;
  return boost::math::gamma_q(static_cast<double>(degrees_of_freedom) / 2, chi_squared / 2);
}

FitResult fit_least_squares(std::span<const double> y, std::span<const double> sigma,
                            std::span<const Column> columns, ErrorSource errors) {
  if (y.size() != sigma.size()) throw std::invalid_argument("every point needs its error");
  std::vector<Eigen::VectorXd> weighted_columns;
  std::vector<std::size_t> candidates;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].values.size() != y.size())
      throw std::invalid_argument("every column needs a value for every point");
    weighted_columns.push_back(weighted(columns[j].values, sigma));
    candidates.push_back(j);
  }
  const Eigen::VectorXd weighted_y = weighted(y, sigma);
  for (;;) {
    const FitResult fit = fit_columns(weighted_y, weighted_columns,
                                      independent_columns(weighted_columns, candidates), errors);
    const auto bad = most_negative(fit, columns);
    if (!bad) return fit;
    std::erase(candidates, *bad);
  }
}

BestFit fit_best(std::span<const double> y, std::span<const double> sigma,
                 std::span<const std::vector<Column>> candidates, ErrorSource errors) {
  if (candidates.empty()) throw std::invalid_argument("nothing to choose from");
  std::vector<FitResult> fits;
  for (const auto& columns : candidates)
    fits.push_back(fit_least_squares(y, sigma, columns, errors));
  double least = fits.front().chi_squared;
  for (const FitResult& fit : fits) least = std::min(least, fit.chi_squared);
  // Below this a residual is rounding: an exact fit has chi-squared near zero,
  // not at it.
  double length = 0;
  for (std::size_t i = 0; i < y.size(); ++i) length += (y[i] / sigma[i]) * (y[i] / sigma[i]);
  const double limit = least * (1 + kSameChiSquared) + length * 1e-20;
  for (std::size_t i = 0;; ++i)
    if (fits[i].chi_squared <= limit) return {i, std::move(fits[i])};
}

}  // namespace foretrace::stats
