/* A communicator that is made of a group: of a session's, where the MPI has sessions. */
#include <mpi.h>
#include <stdio.h>

#include "foretrace.h"

int main(int argc, char** argv) {
  int rank, size, sum = 0, from = -1;
  MPI_Comm made;
  MPI_Group group;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  FORETRACE_COMPUTE(300 * rank);
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "session_comms", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
#else
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &made);
#endif
  FORETRACE_COMPUTE(200 * (size - rank));
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 2, &from, 1, MPI_INT, (rank + size - 1) % size,
               2, made, MPI_STATUS_IGNORE);
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
#if MPI_VERSION >= 4
  MPI_Session_finalize(&session);
#endif
  if (rank == 0) printf("session_comms: sum %d, from %d\n", sum, from);
  MPI_Finalize();
  return 0;
}
