/* Ten different calls of MPI: the twin in C of ten_calls.f. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, bad = 0, total;
  double out[100], in[100], in2[100];
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  for (int i = 0; i < 100; ++i) out[i] = 1000 * rank + i;
  if (rank == 0) {
    MPI_Send(out, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    bad += status.MPI_SOURCE != 1 || status.MPI_TAG != 8;
  } else {
    MPI_Recv(in, 100, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 100, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 100; ++i) bad += in[i] != 1000 * other + i;
  MPI_Irecv(in2, 50, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 50, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  bad += statuses[0].MPI_TAG != 9 || requests[0] != MPI_REQUEST_NULL;
  for (int i = 0; i < 50; ++i) bad += in2[i] != 1000 * other + i;
  total = rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  bad += total != 3;
  total = 40 + rank;
  MPI_Bcast(&total, 1, MPI_INT, 1, MPI_COMM_WORLD);
  bad += total != 41;
  MPI_Finalize();
  if (bad != 0) return 3;
  if (rank == 0) puts("ten_calls: all checks passed");
  return 0;
}
