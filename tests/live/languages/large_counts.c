/* MPI 4's functions with MPI_Count: counts that int does not hold, and arrays of counts. */
/* live: ranks 1 2 3 */
/* live: mpi mpich */
#include <mpi.h>

#include "check.h"

enum { kMost = 8 };

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

  int got = -1;
  MPI_Status status;
  MPI_Request request;
  MPI_Irecv_c(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
  MPI_Send_c(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Count count = 0;
  MPI_Get_count_c(&status, MPI_INT, &count);
  CHECK(got == left && count == 1, "got %d", got);

  /* Three thousand million elements, of nothing. */
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  MPI_Sendrecv_c(&rank, 3000000000, nothing, right, 2, &got, 3000000000, nothing, left, 2, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 2, "large message");
  MPI_Bcast_c(&got, 3000000000, nothing, 0, MPI_COMM_WORLD);
  MPI_Type_free(&nothing);

  MPI_Count counts[kMost];
  MPI_Aint places[kMost];
  int all[2 * kMost], mine[2] = {rank, -rank};
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1 + i % 2;
    places[i] = 2 * i;
  }
  for (int i = 0; i < 2 * kMost; ++i) all[i] = 99;
  MPI_Allgatherv_c(mine, 1 + rank % 2, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    CHECK(all[2 * i] == i && all[2 * i + 1] == (i % 2 ? -i : 99), "allgatherv: part of rank %d", i);
  for (int i = 0; i < 2 * kMost; ++i) all[i] = 99;
  MPI_Igatherv_c(mine, 1 + rank % 2, MPI_INT, all, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_INT, 0,
                 MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks && rank == 0; ++i)
    CHECK(all[2 * i] == i && all[2 * i + 1] == (i % 2 ? -i : 99), "igatherv: part of rank %d", i);
  int sum = 0;
  MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2, "sum %d", sum);

  MPI_Count size = 0;
  MPI_Pack_size_c(3, MPI_INT, MPI_COMM_WORLD, &size);
  CHECK(size >= 12, "packed size");
  MPI_Finalize();
  return check_done();
}
