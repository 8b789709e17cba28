// The results of a sweep: one line for each variant of the machine.
//
// Draws only. Returns whole texts that end with a newline; the values of the
// sweep in front, in the order given.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"

namespace foretrace::views {

struct SweepAxis {
  std::string name;
  bool is_size = false;  // bytes, infinity for none; else a factor
};

struct SweepRun {
  std::vector<double> values;  // by axis
  Time time;
  Time serial_time;  // sum of all ranks' computation
  Time wait;         // over all ranks
  int ranks = 0;
};

struct SweepReport {
  std::vector<SweepAxis> axes;
  std::vector<SweepRun> runs;
  SweepRun base;                        // the machine as it is
  std::vector<std::string> notes = {};  // what is to be said of all of them
};

std::string render_text_sweep(const SweepReport& report);
// An array with an object for each run: the axes by name (none is null), time,
// serial_time, wait, speedup, efficiency, ratio (time / time of the base), notes.
std::string render_json_sweep(const SweepReport& report);
// The same columns, with a line of names; none is inf.
std::string render_csv_sweep(const SweepReport& report);

}  // namespace foretrace::views
