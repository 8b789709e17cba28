/* What loads_late.c loads: five MPI calls. */
#include <mpi.h>
#include <stdio.h>

void run(void) {
  int rank, sum;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("late: %d\n", sum);
}
