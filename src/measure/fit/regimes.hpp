// The best of the papers' twelve forms (Howell's thesis section 3.5.1) for an
// interval of message sizes, by chi-squared.
//
// Between function.hpp, which knows the intervals, and stats, which fits columns
// of numbers. Times are in the model's own unit throughout.
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
};

// The best of the forms for one interval, with chi-squared and Q. Start-up and data coefficients
// are never negative. Where only one number of ranks was measured, the forms that tell ranks apart
// are left out; where only one size was, the data.
machine::Regime fit_regime(const RegimeProblem& problem, Bytes from, Bytes to);

}  // namespace foretrace::measure
