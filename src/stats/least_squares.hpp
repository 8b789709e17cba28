// Weighted linear least squares with a few unknowns, and the choice of the best
// of several design matrices.
//
// Fits y_i = sum_j a_j X_j(x_i) with known errors sigma_i (Howell's thesis section
// 3.5.2) by orthogonal factorisation: the normal equations would square the
// condition number, which sizes from 1 to 2^22 in one column do not forgive.
// Knows nothing of what the columns mean.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace foretrace::stats {

// A column is dependent when what the columns before it leave of it is below
// this share of its length: well above rounding, well below the 1e-8 of
// {1,2,3} + 1e8 beside a constant.
inline constexpr double kDependent = 1e-12;

// One column of the design matrix.
struct Column {
  std::vector<double> values;
  bool non_negative = false;  // a negative coefficient makes no sense
};

struct Unknown {
  double value = 0;
  double error = 0;   // standard error, >= 0
  bool used = false;  // false: left out of the fit, value and error are 0
};

// Where the standard errors come from.
enum class ErrorSource {
  sigma,      // the given sigmas are the errors of the measurements
  residuals,  // the sigmas are relative weights; the scatter about the fit sets the scale
  larger,     // sigma, widened when the fit is worse than the sigmas allow
};

struct FitResult {
  std::vector<Unknown> unknowns;  // one per column
  double chi_squared = 0;
  std::size_t degrees_of_freedom = 0;  // points - used columns
  double q = 1;                        // goodness_of_fit of the two above
};

// `y`, `sigma` (> 0) and every column have the same length, or
// std::invalid_argument is thrown.
//
// Otherwise defined for every input. A column that depends on the ones before it (all
// zero, p never varied, more unknowns than points) is left out. A column
// marked non_negative whose coefficient comes out negative is left out and the
// rest fitted again, the most negative (in its own standard errors) first.
// No points: nothing is used.
FitResult fit_least_squares(std::span<const double> y, std::span<const double> sigma,
                            std::span<const Column> columns,
                            ErrorSource errors = ErrorSource::larger);

struct BestFit {
  std::size_t candidate = 0;
  FitResult fit;
};

// The candidate with the least chi-squared; of candidates that are equal to
// within rounding, the first. `candidates` must not be empty.
BestFit fit_best(std::span<const double> y, std::span<const double> sigma,
                 std::span<const std::vector<Column>> candidates,
                 ErrorSource errors = ErrorSource::larger);

// Q: the probability that chi-squared is as large as this by chance alone, if
// the model is right and the errors normal: the incomplete gamma function
// Q(dof / 2, chi_squared / 2). 1 without degrees of freedom.
double goodness_of_fit(double chi_squared, std::size_t degrees_of_freedom);

}  // namespace foretrace::stats
