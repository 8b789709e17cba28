// Findings on calls that a program could make otherwise: no barriers, messages sent as one,
// blocking messages posted. Each is simulated.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

// Adds to `explanation` those that shorten the run: of messages at the few places with a name where
// most time is spent. Large runs: fewer, or none, and a note says so. Nothing where it is not known
// which messages meet. `names` is the source that `run` was made from, `known_notes` what was told
// of it then.
void find_better_calls(Simulation& simulation, const explain::Run& run, const sim::Source& names,
                       const std::vector<std::string>& known_notes,
                       explain::Explanation& explanation);

}  // namespace foretrace::cli
