/* A program with a profiling layer of its own: it counts its reductions, sends by posting and
   waiting, and says at the end how many calls there were. */
#include <mpi.h>
#include <stdio.h>

#include "foretrace.h"

static int rank, size, reductions, sends;

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++reductions;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  ++sends;
  PMPI_Isend(data, count, type, to, tag, comm, &request);
  return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Finalize(void) {
  if (rank == 0) printf("own_layer: %d reductions, %d sends\n", reductions, sends);
  return PMPI_Finalize();
}

int main(int argc, char** argv) {
  double numbers[100] = {0}, sum = 0, mine = 1;
  int i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < 5; ++i) {
    FORETRACE_COMPUTE(100 * rank);
    if (rank > 0)
      MPI_Recv(numbers, 100, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 1) MPI_Send(numbers, 100, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum == size ? 0 : 1;
}
