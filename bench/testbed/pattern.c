/* pattern RING|HALO|ALLREDUCE BYTES TIMES: rank 0 starts some milliseconds late. Prints seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MPI_Comm world = MPI_COMM_WORLD;
  const int bytes = argc > 2 ? atoi(argv[2]) : 0;
  const int times = argc > 3 ? atoi(argv[3]) : 0;
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  char* buffer[4];
  for (int i = 0; i < 4; ++i) buffer[i] = calloc((size_t)bytes, 1);
  const double start = MPI_Wtime();
  if (rank == 0) {
    volatile double sum = 0;
    for (int i = 0; i < 2000000; ++i) sum += i;
  }
  for (int i = 0; i < times; ++i) {
    if (strcmp(argv[1], "ring") == 0) {
      MPI_Sendrecv(buffer[0], bytes, MPI_BYTE, next, 0, buffer[1], bytes, MPI_BYTE, before, 0,
                   world, MPI_STATUS_IGNORE);
    } else if (strcmp(argv[1], "halo") == 0) {
      MPI_Request all[4];
      MPI_Irecv(buffer[0], bytes, MPI_BYTE, before, 0, world, &all[0]);
      MPI_Irecv(buffer[1], bytes, MPI_BYTE, next, 1, world, &all[1]);
      MPI_Isend(buffer[2], bytes, MPI_BYTE, next, 0, world, &all[2]);
      MPI_Isend(buffer[3], bytes, MPI_BYTE, before, 1, world, &all[3]);
      MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    } else {
      MPI_Allreduce(buffer[0], buffer[1], bytes / 8, MPI_DOUBLE, MPI_SUM, world);
    }
  }
  const double taken = MPI_Wtime() - start;
  double most = 0;
  MPI_Reduce(&taken, &most, 1, MPI_DOUBLE, MPI_MAX, 0, world);
  if (rank == 0) printf("%.6f\n", most);
  MPI_Finalize();
  return 0;
}
