#include "scaling/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::scaling {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

SmallFit fit_small(const std::vector<double>& y, const std::vector<double>& w,
                   const std::vector<std::vector<double>>& columns) {
  SmallFit out;
  const std::size_t n = y.size();
  const std::size_t k = columns.size();
  // Modified Gram-Schmidt: columns of q are orthonormal, r is the triangle.
  std::vector<std::vector<double>> q(k, std::vector<double>(n));
  std::vector<std::vector<double>> r(k, std::vector<double>(k, 0));
  std::vector<double> rest(n);
  for (std::size_t i = 0; i < n; ++i) rest[i] = y[i] * w[i];
  std::vector<double> right(k);
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < n; ++i) q[j][i] = columns[j][i] * w[i];
    const double before = std::sqrt(dot(q[j], q[j]));
    for (std::size_t m = 0; m < j; ++m) {
      r[m][j] = dot(q[m], q[j]);
      for (std::size_t i = 0; i < n; ++i) q[j][i] -= r[m][j] * q[m][i];
    }
    const double length = std::sqrt(dot(q[j], q[j]));
    if (!(length > 1e-9 * before) || !std::isfinite(length)) return out;
    r[j][j] = length;
    for (double& value : q[j]) value /= length;
    right[j] = dot(q[j], rest);
    for (std::size_t i = 0; i < n; ++i) rest[i] -= right[j] * q[j][i];
  }
  out.solved = true;
  out.coefficients.assign(k, 0);
  std::vector<std::vector<double>> inverse(k, std::vector<double>(k, 0));
  for (std::size_t j = k; j-- > 0;) {
    double sum = right[j];
    for (std::size_t m = j + 1; m < k; ++m) sum -= r[j][m] * out.coefficients[m];
    out.coefficients[j] = sum / r[j][j];
    inverse[j][j] = 1 / r[j][j];
    for (std::size_t c = j + 1; c < k; ++c) {
      double entry = 0;
      for (std::size_t m = j + 1; m <= c; ++m) entry -= r[j][m] * inverse[m][c];
      inverse[j][c] = entry / r[j][j];
    }
  }
  out.covariance.assign(k, std::vector<double>(k, 0));
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < k; ++b)
      for (std::size_t m = std::max(a, b); m < k; ++m)
        out.covariance[a][b] += inverse[a][m] * inverse[b][m];
  for (std::size_t i = 0; i < n; ++i) {
    double leverage = 0;
    for (std::size_t j = 0; j < k; ++j) leverage += q[j][i] * q[j][i];
    out.chi_squared += rest[i] * rest[i];
    const double without = rest[i] / std::max(1 - leverage, 1e-6);
    out.press += without * without;
  }
  return out;
}

}  // namespace foretrace::scaling
