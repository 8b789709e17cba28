// One simulated run: what it prints, and the trace that it writes.
#pragma once

#include <functional>
#include <string>

#include "cli/simulation.hpp"

namespace foretrace::cli {

struct RunOptions {
  std::string output;  // the predicted trace; empty: none
  bool links = false;
  bool stats = false;
  bool json = false;
};

// Runs `source` to its end and prints the result. If the program ends the run
// before (live::RunEnded), the trace holds what happened until then. `replay`, if
// given, tells the statistics of the replay alone.
void run_once(const Simulation& simulation, sim::Source& source, const RunOptions& options,
              const std::function<sim::Stats()>& replay = {});

}  // namespace foretrace::cli
