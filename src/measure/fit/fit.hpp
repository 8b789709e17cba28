// From samples to a machine model: the equations of every function, LogGPS, and
// what the computation costs.
//
// This file knows what samples mean; how an equation is found stands in
// function.hpp. No MPI, no files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/compute_costs.hpp"
#include "machine/machine_model.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

struct FitSettings {
  double coverage = 0.95;  // of the prediction intervals
};

// How well the model tells what it was fitted to: the middles over the launches.
struct FunctionReport {
  std::string name;  // within a node after kNodePrefix
  std::size_t samples = 0;
  std::size_t regimes = 0;
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

// Complete model: time unit microseconds, element 1 byte; name, date and source
// are left to the caller. The facts `sync_threshold`, `local_threshold` (of
// point-to-point functions) and `jumps_FUNCTION` say where regimes end, each the last
// size of a regime but sync_threshold, the first of the next. Throws Error
// where the samples hold nothing to fit. Functions and facts after kNodePrefix become the
// path within a node.
FitOutcome fit_model(const SampleSet& set, const FitSettings& settings = {});

}  // namespace foretrace::measure
