// A sweep: one program on many variants of a machine (`simulate --sweep`).
//
// Here are the words of the option, the grid that several of them make, and the
// threads that run its points. What a run is, the caller says; how results look,
// views/report/sweep_report.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "cli/simulate/simulation.hpp"
#include "views/report/sweep_report.hpp"

namespace foretrace::cli {

enum class SweepParameter : std::uint8_t {
  latency,    // factor on L and every link's latency
  bandwidth,  // factor on every link's bandwidth; divides G
  overhead,   // factor on o_s, o_r and g
  compute,    // factor on what the program computes
  threshold,  // S itself, in bytes; infinity: none
};

std::string parameter_name(SweepParameter parameter);

struct Sweep {
  SweepParameter parameter = SweepParameter::latency;
  std::vector<double> values;  // at least one
};

// NAME=ITEM,ITEM,... with NAME latency, bandwidth, overhead, compute or S. An
// item is a value or a range FROM:TO:N, FROM:TO:log:N (both in equal ratios) or
// FROM:TO:lin:N, ends included. Factors may have an x before them (x0.1); S takes
// sizes (64KiB) and none. Values of a range are rounded to 12 digits, those of S
// to whole bytes. Throws UsageError.
Sweep parse_sweep(std::string_view text);
// All --sweep options of a command line: no parameter twice.
std::vector<Sweep> parse_sweeps(const std::vector<std::string>& texts);

// What a run can notice of a sweep.
struct SweepUse {
  bool equations_alone = false;  // network datasheet, collectives by equation
  bool computes = true;          // not --compute none
};
// Throws UsageError for a parameter that would change nothing.
void check_sweeps(const std::vector<Sweep>& sweeps, const SweepUse& use);

struct SweepPoint {
  std::vector<SweepParameter> parameters;
  std::vector<double> values;  // of these
};

// "latency x0.1, S 4096"; "the machine as it is" for no parameters.
std::string describe(const SweepPoint& point);
MachineFactors factors_of(const SweepPoint& point);

// Every combination, the last sweep's values changing fastest.
std::vector<SweepPoint> grid_of(const std::vector<Sweep>& sweeps);

struct PointResult {
  Time time;
  Time serial_time;  // sum of all ranks' computation
  Time wait;         // over all ranks
  int ranks = 0;
};

struct SweepRunner {
  std::function<PointResult(const SweepPoint&)> run;  // called by several threads
  int jobs = 0;                                       // threads; 0: as many as processors
  // After each run, never by two threads at once; may be left out.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

// Runs the machine as it is and all points of the grid. The results stand in the
// grid's order, however many threads there are. If runs fail, the rest is given
// up and the first failure in that order is thrown, with its point in front:
// UsageError as such, anything else as Error.
views::SweepReport run_sweep(const std::vector<Sweep>& sweeps, const SweepRunner& runner);

}  // namespace foretrace::cli
