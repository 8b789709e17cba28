// Findings on how a program is started, not on what it does: the algorithms of its
// collectives. Each is simulated.
#pragma once

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

// Adds to `explanation` for each place the algorithm that shortens the run most, if any does. Where
// collectives take what equations say there is nothing to choose. Large runs: for the places where
// most time is spent in collectives; a note says so. `names` is the source that `run` was made
// from.
void find_better_algorithms(const Simulation& simulation, const explain::Run& run,
                            const sim::Source& names, explain::Explanation& explanation);

}  // namespace foretrace::cli
