// Settings of the capture library, from the environment.
//
// The command line sets them (docs/architecture.md lists the variables); a
// program that links the library sets them by hand. Knows nothing of MPI.
#pragma once

#include <optional>
#include <string>

#include "compute/spec.hpp"
#include "machine/equation.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

enum class Mode { off, record, predict, profile };
// Whether ranks that wait give their cores away.
enum class Yield { automatic, always, never };

struct Settings {
  Mode mode = Mode::off;
  std::string output;   // FORETRACE_OUTPUT: the trace or profile
  std::string told;     // FORETRACE_TELL: its name, to say that it was written; empty: say nothing
  std::string machine;  // FORETRACE_MACHINE: predict's model
  trace::Clock clock = trace::Clock::cpu;      // FORETRACE_CLOCK: cpu, wall
  machine::Bound bound = machine::Bound::avg;  // FORETRACE_BOUND
  compute::Spec compute;                       // FORETRACE_COMPUTE
  // FORETRACE_COUNT, or what `compute` counts
  compute::Counter count = compute::Counter::none;
  std::string placement;           // FORETRACE_PLACEMENT: predict's; empty: the launcher's
  int ranks_per_node = 0;          // FORETRACE_RANKS_PER_NODE; 0: not said
  std::string scale_from;          // FORETRACE_SCALE_FROM: the model of this machine
  std::string slower;              // FORETRACE_SLOWER: as compute::parse_slower() reads it
  std::string lines_of_run;        // FORETRACE_LINES_OF_RUN: a file for them; empty: nobody asks
  bool in_other_state = false;     // FORETRACE_STATE: measured, other
  int sample = 0;                  // FORETRACE_SAMPLE: executions of each kernel; 0: all
  int depth = 1;                   // FORETRACE_DEPTH: profile's call sites
  bool start_logging = true;       // FORETRACE_START: on, off,
  bool logs_calls = true;          // never (recordings alone): what the run takes, and no calls
  bool virtual_wtime = true;       // FORETRACE_WTIME: virtual, real
  bool counts_waits = true;        // FORETRACE_WAITS: measured, none
  Yield yield = Yield::automatic;  // FORETRACE_YIELD: auto, always, never
};

// Throws Error naming the variable that makes no sense.
Settings read_settings();

// As a trace's header has them.
std::string describe(const Settings& settings);

}  // namespace foretrace::capture
