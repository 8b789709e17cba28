// The options that say on which machine and network operations are replayed, the same
// in every sub-command that does so.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/simulate/simulation.hpp"

namespace foretrace::cli {

// --placement and --ranks-per-node.
void add_placement_options(CLI::App& app, std::string& placement, int& ranks_per_node,
                           bool is_of_topology);
void add_progress_option(CLI::App& app, std::string& progress);
void add_allow_invalid(CLI::App& app, bool& allowed);
void add_other_state(CLI::App& app, bool& in_other_state);
void add_slower(CLI::App& app, std::string& slower);
void add_simulation_options(CLI::App& app, SimulationOptions& options);

}  // namespace foretrace::cli
