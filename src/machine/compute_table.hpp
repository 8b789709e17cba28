// ComputeTable: how long the regions of a program compute on the target, and
// its TOML file. A region is a phase of the program (FORETRACE_PHASE_BEGIN).
//
// Written from a trace by `foretrace regions`, or by hand; src/compute
// makes times of it. Plain data, no evaluation.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::machine {

enum class RegionTime {
  none,      // the region computes for no time
  measured,  // CPU time, measured or recorded
  visit,     // each time that the phase is entered
  step,      // each step that the program announces or that is counted
};

struct ComputeRegion {
  std::string phase;  // empty: outside of all others
  RegionTime time = RegionTime::none;
  // visit: of the intervals between the calls that communicate, in their order;
  // step: one of them.
  std::vector<double> seconds;
  double scale = 1;
  // measured: shares of the region's time here that the kernels of
  // `foretrace measure` stand for; above 0. Empty: all kernels alike.
  std::map<std::string, double, std::less<>> kernels;

  bool operator==(const ComputeRegion&) const = default;
};

struct ComputeTable {
  std::string source;       // where it comes from, for people
  ComputeRegion elsewhere;  // outside of all regions
  std::vector<ComputeRegion> regions;

  bool operator==(const ComputeTable&) const = default;
};

// Reads the TOML text; `name` stands for the file in messages. Throws Error
// "FILE:LINE: ...".
ComputeTable parse_compute_table(std::string_view text, const std::string& name);
ComputeTable read_compute_table(const std::string& path);

// The text that parses back to the same table.
std::string format_compute_table(const ComputeTable& table);

}  // namespace foretrace::machine
