// What a faster link of the topology would bring.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"
#include "explain/run.hpp"

namespace foretrace::cli {

// "3,s0=2": nodes by their names. Throws UsageError for what is no such text, where there is no
// such link, and on networks on which no link has a speed of its own.
FasterLink parse_faster_link(const Simulation& simulation, const std::string& text);

// Adds to `explanation` which of the links that were busy the longest would shorten the run, if
// bytes took no time there; each is simulated. Large runs: fewer, or none, and a note says so.
// `as_it_is`: the result of `run`.
void find_faster_links(Simulation& simulation, const explain::Run& run,
                       const sim::SimulateResult& as_it_is, explain::Explanation& explanation);

}  // namespace foretrace::cli
