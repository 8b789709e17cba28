/* The profiling interface: a program's own MPI_X takes the library's place, and calls PMPI_X. */
/* live: ranks 2 3 */
#include <mpi.h>

#include "check.h"

static int sends, reductions, finalized;

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  ++reductions;
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void) {
  ++finalized;
  return PMPI_Finalize();
}

int main(int argc, char** argv) {
  int rank, ranks, got = -1, sum = 0;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) MPI_Send(&ranks, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(rank != 1 || got == ranks, "got %d", got);
  CHECK(sends == (rank == 0), "%d sends", sends);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2, "sum %d", sum);
  /* What the library does for itself is none of the program's calls. */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  CHECK(sends == (rank == 0) && reductions == 1, "%d sends, %d reductions", sends, reductions);
  MPI_Finalize();
  CHECK(finalized == 1, "finalized %d times", finalized);
  return check_done();
}
