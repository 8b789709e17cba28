#include "capture/session/own_comm.hpp"

namespace foretrace::capture {

MPI_Comm own_comm = MPI_COMM_NULL;

void make_own_comm() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &own_comm);
}

void free_own_comm() {
  PMPI_Comm_free(&own_comm);
}

}  // namespace foretrace::capture
