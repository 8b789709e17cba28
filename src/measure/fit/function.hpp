// One function's equations from its observations: regimes, errors at sizes
// that the fit did not see, and the papers' forms to compare with.
//
// Times are in the model's own unit throughout. No MPI, no files.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machine/machine_model.hpp"
#include "measure/fit/terms.hpp"

namespace foretrace::measure {

struct FunctionProblem {
  std::vector<Observation> observations;  // at least one, in any order
  // What regimes are found from, where it is not the observations: of a single launch, the
  // middles of consecutive parts of its blocks, as if each part were a launch.
  // They tell a bend from scatter; errors are none of their affair.
  std::vector<Observation> parts = {};
  // Every undisturbed block, by which the intervals are widened; none: the observations. A block
  // is what calls from one place of memory take, as a program's are; a launch's middle is over
  // several.
  std::vector<Observation> blocks = {};
  bool by_ranks = true;  // false: the time depends on the size alone
  // Where a regime ends for certain: last sizes of the lower ones, in any order.
  std::vector<std::uint64_t> thresholds;
  double negligible = 0;         // times below this count as if they were as large
  double coverage = 0.95;        // of the prediction intervals
  std::size_t least_sizes = 3;   // in a regime that was found
  std::size_t most_regimes = 8;  // more only where more thresholds are given
};

// Regimes end at the thresholds and where the segmentation (stats/segmentation.hpp)
// finds a jump or a kink; pieces that meet in a kink are fitted together. The first
// begins at 0, the last holds all above.
std::vector<machine::Regime> fit_regimes(const FunctionProblem& problem);

// What was measured, told by a curve and by factors of it at the measured points
// (machine::Function::corrections): one sum of terms over all sizes, without a coefficient below
// zero; an empty message has a constant of its own.
// Without corrections: regimes alone.
struct CorrectedCurve {
  std::vector<machine::Regime> regimes;
  std::vector<machine::Correction> corrections;
};
// Nothing where the curve or a time is not above 0 at some point.
std::optional<CorrectedCurve> fit_corrected(const FunctionProblem& problem);

// The best of the papers' forms for each of the intervals of `regimes`, by
// chi-squared; a point's error is the spread between its launches.
std::vector<machine::Regime> fit_baseline(const FunctionProblem& problem,
                                          const std::vector<machine::Regime>& regimes);

// A block's time at a size that was left out, over what was predicted there.
struct LeftOut {
  std::uint64_t bytes = 0;
  std::size_t launch = 0;
  double ratio = 1;
};
struct HeldOut {
  std::optional<machine::HeldOutError> error;
  std::vector<LeftOut> ratios = {};
};
struct HeldOutErrors {
  HeldOut model;
  HeldOut corrected;  // no error where there is no such curve
  std::optional<machine::HeldOutError> baseline;
};
// Cross-validation: every fifth size but the first and the last is left out, all is fitted again,
// and the middles there are compared; until each was left out once. Sizes within 2 % of each other,
// as beside a threshold, are left out together: they know of each other. None is set where
// there are fewer than three sizes.
HeldOutErrors hold_out_sizes(const FunctionProblem& problem);

// Widens the regimes' intervals until `coverage` of those ratios lie within: of the
// regime's own where there are 20 at four sizes, of the function's where there are not; of a
// function with fewer until all lie within. A fit's
// errors are those of its coefficients and of launches; they say nothing of a wrong form. Launches
// are few, and the quantiles of few values lie too near: what the launches' own means differ by
// counts as Student's distribution has it for one launch more.
void widen_intervals(const std::vector<LeftOut>& ratios, double coverage,
                     std::vector<machine::Regime>& regimes);

// How far, as a factor less 1, the equations (the corrected curve) fitted without the largest
// number of ranks are from what was measured there, at worst. Not set for fewer than three numbers
// of ranks: of two, one would be left.
std::optional<double> hold_out_largest_ranks(const FunctionProblem& problem,
                                             bool corrected = false);

// All of the above, with what was measured. Regimes tell steps and slopes where the sizes are
// many. Of few, such as powers of two, they say little between them; the corrected curve is taken
// where it is nearer to what was left out: by a tenth, of more than 50 sizes by half. Name and
// class are the caller's.
machine::Function fit_function(const FunctionProblem& problem);

// Where a jump between two neighbouring measured sizes is put: the last size
// of the lower regime. Up to 64 KiB libraries change protocol at powers of two, so one
// at the lower end belongs to the lower regime, one at the upper end begins the
// next; without one, and beyond, the geometric middle.
std::uint64_t boundary_between(std::uint64_t lower, std::uint64_t upper);

}  // namespace foretrace::measure
