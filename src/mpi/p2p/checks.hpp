// What point-to-point calls check before they do anything.
#pragma once

#include <mpi.h>

#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi {

// The communicator and datatype of a call, if its arguments are right; else
// `error` is what the call returns.
struct Checked {
  Comm* comm = nullptr;
  Datatype* type = nullptr;
  int error = MPI_SUCCESS;
  explicit operator bool() const { return error == MPI_SUCCESS; }
};

Checked check_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm);
Checked check_recv(const void* buf, int count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm);
// Probes: no buffer.
Checked check_source(int source, int tag, MPI_Comm comm);

}  // namespace foretrace::mpi
