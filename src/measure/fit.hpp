// From samples to a machine model: regimes of message sizes, each with the best
// of the 12 forms of Howell's thesis section 3.5.1.
//
// Every choice is by weighted least squares (stats/least_squares.hpp); this file
// knows what the numbers mean, not how a fit is computed. No MPI, no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/compute_costs.hpp"
#include "machine/machine_model.hpp"
#include "measure/samples.hpp"

namespace foretrace::measure {

// Last sizes of all regimes but the highest, in bytes: the papers' boundary of
// 32 elements is the first one.
inline const std::vector<std::uint64_t> kUsualBoundaries{128, 1024, 8192, 65536, 524288};

struct FitSettings {
  // Last sizes of all regimes but the highest, ascending. Not set: found from
  // the samples, function by function.
  std::optional<std::vector<std::uint64_t>> boundaries;
  // A measured time is never taken to be more certain than this share of it:
  // the weights are relative, so that small messages count like large ones.
  double least_relative_error = 0.03;
  std::size_t least_sizes = 3;   // distinct message sizes in a regime
  std::size_t most_regimes = 8;  // when boundaries are found
};

// How well the model tells the medians that it was fitted to.
struct FunctionReport {
  std::string name;
  std::size_t samples = 0;
  std::size_t points = 0;  // distinct (ranks, bytes)
  double mean_relative_error = 0;
  double max_relative_error = 0;
  int max_ranks = 0;  // where the largest error is
  std::uint64_t max_bytes = 0;
  double surviving = 1;  // share of blocks without a context switch
};

struct FitOutcome {
  machine::MachineModel model;
  machine::ComputeCosts costs;          // the kernels
  std::vector<FunctionReport> reports;  // by name
};

// The middle of what was measured at one point.
struct Point {
  int ranks = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  // median over the launches of each launch's median
  double spread = 0;   // their scatter (of one launch: its blocks'), as a standard deviation
};

// Points by (ranks, bytes) of the samples of one function. Where no sample of
// a point was kept, the least of them stands for it, with a large spread.
std::vector<Point> summarise(const std::vector<Sample>& samples);

// One function. `timer_overhead` (seconds) is where times cease to mean much.
machine::Function fit_function(const std::string& name, const std::vector<Point>& points,
                               double timer_overhead, const FitSettings& settings);

// Complete model: time unit microseconds, element 1 byte; name, date and source
// are left to the caller. Throws Error where the samples hold nothing to fit.
FitOutcome fit_model(const SampleSet& set, const FitSettings& settings = {});

}  // namespace foretrace::measure
