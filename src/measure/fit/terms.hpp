// The equations of neighbouring pieces of message sizes that meet without a
// jump: which terms, and how large.
//
// Between function.hpp, which knows where the pieces are, and stats, which fits
// columns of numbers. Times are in the model's own unit throughout.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/equation.hpp"

namespace foretrace::measure {

// The median of one launch's blocks at one point.
struct Observation {
  int ranks = 0;
  std::uint64_t bytes = 0;
  std::size_t launch = 0;
  double time = 0;
};

struct RunProblem {
  std::vector<Observation> observations;  // of these pieces; at least one
  // Where each piece begins, ascending; at least one. The lines of neighbours meet
  // at the upper one's beginning.
  std::vector<double> begins;
  bool by_ranks = true;   // false: the time depends on the size alone
  double negligible = 0;  // times below this count as if they were as large
  double coverage = 0.95;
  bool rising = false;  // no coefficient is below zero
};

// One equation for each piece, a sum of terms with standard errors and a
// prediction interval.
//
// Candidates are the sums of up to two of {1, ceil log2 p, p-1} and up to two of
// d x {1, ceil log2 p, (p-1)/p, p-1}, for a single piece also the papers' twelve
// forms; the Bayesian information criterion chooses. Where two or more numbers of
// ranks are no power of two, the same with a set of terms of their own. Only the
// constant may be negative, so that nothing shrinks beyond what was measured; of one
// number of ranks, the slopes too, but the last. Errors are of a bootstrap of launches; where
// they cannot be told, there is no interval.
std::vector<machine::Equation> fit_terms(const RunProblem& problem);

}  // namespace foretrace::measure
