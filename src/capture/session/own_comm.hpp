// OwnComm: on which the ranks' capture libraries talk to each other, a duplicate of MPI_COMM_WORLD.
// On a communicator of the program's our messages would meet those of calls that do not match.
#pragma once

#include <mpi.h>

namespace foretrace::capture {

// MPI_COMM_NULL but between the two calls below.
extern MPI_Comm own_comm;

// Collective over MPI_COMM_WORLD: in MPI_Init, before the program can call anything.
void make_own_comm();
// Collective: before MPI_Finalize, or where the program runs on without Foretrace.
void free_own_comm();

}  // namespace foretrace::capture
