// The rank itself: who it is, where, and when.
#pragma once

#include <string>

#include "base/time.hpp"

namespace foretrace::mpi {

int world_rank();
int world_size();
// The other rank's process on this machine.
int process_of(int world_rank);
// The node of the simulated machine that a rank is on; all are on node 0 where the
// simulation has no topology.
int node_of(int rank);
// Virtual time since MPI_Init returned. Asks the simulator, as MPI_Wtime does.
// `at_least`: so many readings of the clock in one.
Time virtual_time(std::uint32_t at_least = 1);
double virtual_seconds();
// Ends the whole run. `code` as for MPI_Abort; the message (one line, may be
// empty) goes to standard error, with the rank's number before it.
[[noreturn]] void end_run(int exit_status, const std::string& message);

}  // namespace foretrace::mpi
