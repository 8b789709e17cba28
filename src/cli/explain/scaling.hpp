// `explain A.ftr B.ftr ... --scaling strong`: the efficiencies of several runs.
#pragma once

#include <string>
#include <vector>

#include "cli/explain/output.hpp"
#include "cli/simulate/simulation.hpp"

namespace foretrace::cli {

// Simulates each of the inputs with `options`, as it is and on an ideal network, and prints the
// table, or writes it to output.path. The exit status.
int explain_scaling(const std::string& scaling, const std::vector<std::string>& inputs,
                    SimulationOptions options, const ExplainOutput& output);

}  // namespace foretrace::cli
