// A better placement of the ranks on the topology: as a finding, and as a file for --placement.
#pragma once

#include <string>

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"
#include "explain/placement.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

// Throws UsageError where it is all the same where a rank runs. `run` is that of `simulation`,
// as it is; call prepare_sharing() before.
explain::BetterPlacement better_placement(const Simulation& simulation, const explain::Run& run);

// What --placement FILE reads: a processor a line.
std::string format_placement(const machine::Placement& placement,
                             const machine::Topology& topology);

// Adds the better placement to `explanation`, if there is any.
void add_better_placement(const Simulation& simulation, const explain::Run& run,
                          explain::Explanation& explanation);

}  // namespace foretrace::cli
