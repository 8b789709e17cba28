// Rounds: what `validate` compares. A round runs the program really, really with its calls logged,
// under predict, and under record, whose trace is replayed. Each real run knows the state that it
// found the machine in, so that like is compared with like.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "cli/programs/launch.hpp"
#include "cli/validate/states.hpp"
#include "machine/machine_model.hpp"
#include "trace/trace.hpp"

namespace foretrace::cli {

struct RoundOptions {
  CaptureRun run;
  std::string machine;
  std::string compute = "measured";
  std::string scale_from;
  int runs = 5;
};

// Real runs of one kind, in the order in which they were made.
template <class Run>
struct RealRuns {
  std::vector<Run> runs;
  std::vector<FoundState> states;
  std::vector<double> lines;  // seconds that a cache line took at the end; 0: not known
};

// Predictions for one state of the machine.
struct StatePredictions {
  std::vector<trace::Trace> predicted;  // one at least where a real run found that state
  std::vector<trace::Trace> simulated;  // the same
  std::vector<std::string> notes[2];    // what predict and simulate said of the first
};

struct Rounds {
  RealRuns<Time> untraced;
  RealRuns<trace::Trace> measured;
  StatePredictions predictions[2];  // for the measured state, and for the other
};

// Throws Error where a run fails.
Rounds run_rounds(const RoundOptions& options, const machine::MachineModel& model);

}  // namespace foretrace::cli
