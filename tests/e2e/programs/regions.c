/* Computes in phases, unevenly over the ranks, and talks in between: messages
 * to neighbours that the ends do not have, collectives, local calls in a row.
 * Prints a checksum, so that a kernel that was not executed shows.
 *
 *   regions [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "foretrace.h"

static double values[512];

static double relax(int times) {
  double sum = 0;
  for (int t = 0; t < times; ++t)
    for (int i = 1; i < 511; ++i) {
      if (values[i] > 100) values[i] -= values[i - 1];
      values[i] = 0.5 * (values[i - 1] + values[i + 1]) + 1;
      sum += values[i];
    }
  FORETRACE_COMPUTE(times);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 4;
  int rank, size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) {
    values[0] += relax(1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2];
    FORETRACE_PHASE_BEGIN("exchange");
    double halo = 0;
    MPI_Irecv(&halo, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    sum += relax(1);
    MPI_Isend(values + 510, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    values[0] = halo;
    MPI_Sendrecv(values + 1, 1, MPI_DOUBLE, (rank + size - 1) % size, 2, values + 511, 1,
                 MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    FORETRACE_PHASE_END("exchange");
    FORETRACE_PHASE_BEGIN("solve");
    sum += relax(2 + rank);
    double total;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += relax(1);
    FORETRACE_PHASE_END("solve");
    sum = total / size;
  }
  if (rank == 0) printf("sum %.17g\n", sum);
  MPI_Finalize();
  return 0;
}
