/* live: mpi mpich */
/* live: ranks 1 2 4 */
/* The forms with MPI_Count: their arrays may go when a call that is not over returns. */
#include "../check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int n = check_size, me = check_rank;
  int *a = malloc(sizeof(int) * 3 * (size_t)n), *b = malloc(sizeof(int) * 3 * (size_t)n), sum = 0;
  MPI_Count counts[16];
  MPI_Aint places[16];
  MPI_Request request;
  for (int i = 0; i < n; ++i) counts[i] = 2, places[i] = 3 * (n - 1 - i);
  for (int i = 0; i < 3 * n; ++i) a[i] = 100 * me + i, b[i] = -1;

  MPI_Iallgatherv_c(a, 2, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3 * n; ++i)
    CHECK_EQUAL(b[i], i % 3 == 2 ? -1 : 100 * (n - 1 - i / 3) + i % 3);

  MPI_Alltoallv_c(a, counts, places, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) CHECK_EQUAL(b[3 * (n - 1 - i)], 100 * i + 3 * (n - 1 - me));

  MPI_Allreduce_c(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, n * (n - 1) / 2);

  MPI_Bcast_init_c(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    sum = me == 0 ? i : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(sum, i);
  }
  MPI_Request_free(&request);
  free(a);
  free(b);
  return check_end();
}
