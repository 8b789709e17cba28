/* live: ranks 1 2 4 */
/* Collectives of some megabytes, dense and with gaps. */
#include "collectives.h"

enum { N = 1 << 18 };

static int at(int rank, int i) {
  return (rank * 7919 + i * 31) % 10007;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int n = check_size, me = check_rank;
  int *a = malloc(sizeof(int) * 2 * N), *b = malloc(sizeof(int) * 2 * N * (size_t)n);
  MPI_Datatype gaps;
  MPI_Type_vector(N, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);

  for (int i = 0; i < 2 * N; ++i) a[i] = me == n - 1 ? at(me, i) : -1;
  MPI_Bcast(a, 2 * N, MPI_INT, n - 1, MPI_COMM_WORLD);
  long wrong = 0;
  for (int i = 0; i < 2 * N; ++i) wrong += a[i] != at(n - 1, i);
  CHECK_EQUAL(wrong, 0);

  for (int i = 0; i < 2 * N; ++i) a[i] = me == 0 || i % 2 == 1 ? at(me, i) : -1;
  MPI_Bcast(a, 1, gaps, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * N; ++i) wrong += a[i] != at(i % 2 ? me : 0, i);
  CHECK_EQUAL(wrong, 0);

  for (int i = 0; i < N; ++i) a[i] = at(me, i);
  MPI_Request request;
  MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < N; ++i) {
    int sum = 0;
    for (int rank = 0; rank < n; ++rank) sum += at(rank, i);
    wrong += b[i] != sum;
  }
  CHECK_EQUAL(wrong, 0);

  MPI_Allgather(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < n; ++rank)
    for (int i = 0; i < N; ++i) wrong += b[rank * N + i] != at(rank, i);
  CHECK_EQUAL(wrong, 0);

  /* Rank i's part j is at [j * part]. */
  const int part = N / n;
  MPI_Alltoall(a, part, MPI_INT, b, part, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < n; ++rank)
    for (int i = 0; i < part; ++i) wrong += b[rank * part + i] != at(rank, me * part + i);
  CHECK_EQUAL(wrong, 0);

  MPI_Scan(a, b, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) {
    int most = 0;
    for (int rank = 0; rank <= me; ++rank) most = at(rank, i) > most ? at(rank, i) : most;
    wrong += b[i] != most;
  }
  CHECK_EQUAL(wrong, 0);
  MPI_Type_free(&gaps);
  free(a);
  free(b);
  return check_end();
}
