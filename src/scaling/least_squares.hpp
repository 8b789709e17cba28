// Weighted least squares of a few columns, with what leaving one point out would change: thousands
// of shapes are tried, so all is in closed form. stats/least_squares.hpp is for single fits.
//
// Private to src/scaling.
#pragma once

#include <vector>

namespace foretrace::scaling {

struct SmallFit {
  bool solved = false;               // false: the columns depend on each other
  std::vector<double> coefficients;  // one a column
  double chi_squared = 0;            // sum of squares of the weighted residuals
  double press = 0;  // the same of each point, predicted by a fit without it (Allen 1974)
  std::vector<std::vector<double>> covariance;  // of the coefficients, for weighted errors of 1
};

// Fits y ~ sum a_j columns[j] with weights w (weighted residual: w (y - f)).
SmallFit fit_small(const std::vector<double>& y, const std::vector<double>& w,
                   const std::vector<std::vector<double>>& columns);

}  // namespace foretrace::scaling
