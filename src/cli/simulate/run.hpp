// One simulated run: what it prints, and the trace that it writes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/pages/watch_output.hpp"
#include "cli/simulate/samples.hpp"
#include "cli/simulate/simulation.hpp"
#include "sim/sink.hpp"

namespace foretrace::cli {

struct RunOptions {
  std::string output;            // the predicted trace; empty: none
  std::optional<Time> baseline;  // what the speed-up is against
  std::optional<Samples> samples;
  bool links = false;
  bool stats = false;
  bool json = false;
  RankRecorder* ranks = nullptr;  // what the ranks do is told it, too
  // A program runs live: its trace is kept if the run ends early, and what it
  // left undone at its end is told.
  bool live = false;
  std::function<void(sim::FileSink&)> opened;           // the trace was begun
  std::function<void(sim::SimulateResult&)> simulated;  // before anything is said of it
};

// Runs `source` to its end and prints the result. `replay`, if given, tells the
// statistics of the replay alone.
void run_once(const Simulation& simulation, sim::Source& source, const RunOptions& options,
              const std::function<sim::Stats()>& replay = {});

}  // namespace foretrace::cli
