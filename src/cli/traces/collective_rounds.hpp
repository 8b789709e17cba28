// Which messages the collectives of a simulated run were made of.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"
#include "views/timeline/rounds.hpp"

namespace foretrace::cli {

// `collectives`: what the trace says of itself ("openmpi", "mpich,bcast=binomial"). Empty where it
// was "equation" or is not known. Calls with very many messages are left out.
std::vector<views::CallRounds> collective_rounds(const trace::Trace& trace,
                                                 const std::string& collectives);

}  // namespace foretrace::cli
