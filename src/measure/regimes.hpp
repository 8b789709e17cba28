// Regimes: intervals of message sizes, given or found, and the best equation
// for each.
//
// Between fit.hpp, which turns samples into points, and stats, which fits
// columns of numbers. Times are in the model's own unit throughout.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine_model.hpp"

namespace foretrace::measure {

struct RegimePoint {
  double ranks = 0;
  std::uint64_t bytes = 0;
  double time = 0;
  double sigma = 1;  // > 0
};

struct RegimeProblem {
  std::vector<RegimePoint> points;  // at least one
  // False: the time depends on the size alone (point-to-point).
  bool by_ranks = true;
  std::size_t least_sizes = 3;  // distinct sizes that a regime needs, where there are as many
};

// The best of the forms for one interval. Start-up and data coefficients are
// never negative. Where only one number of ranks was measured, the forms that
// tell ranks apart are left out; where only one size was, the data.
machine::Regime fit_regime(const RegimeProblem& problem, Bytes from, Bytes to);

// Regimes that end at `boundaries` (ascending) and one above. A regime with
// fewer than least_sizes sizes is merged with the one below it, the lowest with
// the one above. The result begins at 0 and ends at the largest size there is.
std::vector<machine::Regime> fit_given_regimes(const RegimeProblem& problem,
                                               const std::vector<std::uint64_t>& boundaries);

// Finds up to `most` regimes: the segmentation with the least chi-squared plus
// ln(points) for each coefficient and boundary (the Bayesian information
// criterion), by dynamic programming over the measured sizes. Empty messages
// may form a regime of their own.
std::vector<machine::Regime> fit_best_regimes(const RegimeProblem& problem, std::size_t most);

// Where a jump between two neighbouring measured sizes is put: the last size
// of the lower regime. Libraries change protocol at powers of two, so one at
// the lower end belongs to the lower regime, one at the upper end begins the
// next; without one, the geometric middle.
std::uint64_t boundary_between(std::uint64_t lower, std::uint64_t upper);

}  // namespace foretrace::measure
