// The means of two sets of runs beside each other: their difference and their ratio, with
// intervals.
//
// The interval of the difference b - a is that of Welch's test (Biometrika 34 (1947) 28): Student's
// t, where the two may scatter differently, with Satterthwaite's degrees of freedom. That of the
// ratio is Fieller's (J. R. Statist. Soc. B 16 (1954) 175): all r of which the same test does not
// tell b from r a. So one holds 0 exactly where the other holds 1. No bootstrap: of three or five
// runs a resample knows too little, and its intervals are too narrow.
#pragma once

#include <optional>
#include <span>

#include "stats/group_errors.hpp"

namespace foretrace::stats {

struct MeanIntervals {
  // None: a side of one run that is not exact tells nothing of its scatter.
  std::optional<Interval> difference;
  // None likewise, or a's mean may be zero. Not below 0, and `upper` may be infinite.
  std::optional<Interval> ratio;

  // Both being the same is left out.
  bool differ() const { return difference && (difference->lower > 0 || difference->upper < 0); }
};

// Of times: nothing is below zero. A side that is `exact` has no error, whatever its values:
// a prediction, which is the same each time.
MeanIntervals compare_means(std::span<const double> a, bool a_exact, std::span<const double> b,
                            bool b_exact, double coverage = 0.95);

}  // namespace foretrace::stats
