// `simulate -n RANKS -- PROGRAM`: a program on our own MPI library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/pages/watcher.hpp"
#include "cli/simulate/run.hpp"
#include "live/processes.hpp"

namespace foretrace::cli {

// Finds the program and the library for the MPI that it was built for, and puts
// what the simulation has to know of it into `options`. Throws UsageError, Error.
live::Command prepare_live(const std::vector<std::string>& program,
                           const std::optional<std::string>& mpi, SimulationOptions& options);

// Runs it. Returns the exit status: the program's. Watching is of the trace that it writes.
int run_live(const Simulation& simulation, const live::Command& program, const RunOptions& options,
             const WatcherOptions& watch);

}  // namespace foretrace::cli
