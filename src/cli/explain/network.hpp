// What the parameters of the network do to a run (`explain`, its `--set`).
//
// Where messages take what the model's equations say, there are no parameters: there L, o and
// G are what is added to the equations (machine/added.hpp).
#pragma once

#include <string>

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

// `words`: those of --set. What of them has no effect, in words; empty: all have. Throws UsageError
// for parameters that the network does not have.
std::string set_parameters(const Simulation& simulation, const std::string& words, Replay& replay);

// The run time as a function of each parameter, to `explanation`. Large runs get fewer points.
// Where messages get into each other's way (`contended`), their order may change within a piece.
void add_sensitivities(const Simulation& simulation, const explain::Run& run, bool contended,
                       explain::Explanation& explanation);

}  // namespace foretrace::cli
