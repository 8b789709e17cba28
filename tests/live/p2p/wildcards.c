/* Receives from anybody, of any tag: every message once, each sender's in order.
 * live: ranks 1 2 3 4 7 8 64 */
#include "check.h"

enum { kEach = 20 };

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int senders = check_size > 1 ? check_size - 1 : 1;
  int* next = calloc((size_t)check_size, sizeof *next);

  /* To rank 0, blocking. A single rank posts its sends. */
  MPI_Request sends[kEach];
  int values[kEach];
  if (check_rank > 0 || check_size == 1) {
    for (int i = 0; i < kEach; ++i) {
      values[i] = i;
      MPI_Isend(&values[i], 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD, &sends[i]);
    }
  }
  if (check_rank == 0) {
    for (int i = 0; i < senders * kEach; ++i) {
      int value = -1;
      MPI_Status status;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      CHECK_EQUAL(value, next[status.MPI_SOURCE]);
      CHECK_EQUAL(status.MPI_TAG, value % 3);
      ++next[status.MPI_SOURCE];
    }
  }
  if (check_rank > 0 || check_size == 1) MPI_Waitall(kEach, sends, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);

  /* Any source, a tag of its own: other tags stay until they are asked for. */
  if (check_rank > 0 || check_size == 1) {
    for (int i = 0; i < kEach; ++i)
      MPI_Isend(&values[i], 1, MPI_INT, 0, i % 2, MPI_COMM_WORLD, &sends[i]);
  }
  if (check_rank == 0) {
    for (int tag = 1; tag >= 0; --tag) {
      memset(next, 0, (size_t)check_size * sizeof *next);
      for (int i = 0; i < senders * kEach / 2; ++i) {
        int value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(value, 2 * next[status.MPI_SOURCE] + tag);
        ++next[status.MPI_SOURCE];
      }
    }
  }
  if (check_rank > 0 || check_size == 1) MPI_Waitall(kEach, sends, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);

  /* All to all, the receives posted before; any tag from a given source. */
  MPI_Request* receives = malloc(sizeof *receives * (size_t)check_size);
  MPI_Request* out = malloc(sizeof *out * (size_t)check_size);
  MPI_Status* statuses = malloc(sizeof *statuses * (size_t)check_size);
  int* got = malloc(sizeof *got * (size_t)check_size);
  for (int i = 0; i < check_size; ++i)
    MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < check_size; ++i)
    MPI_Isend(&check_rank, 1, MPI_INT, i, 9, MPI_COMM_WORLD, &out[i]);
  MPI_Waitall(check_size, receives, statuses);
  MPI_Waitall(check_size, out, MPI_STATUSES_IGNORE);
  memset(next, 0, (size_t)check_size * sizeof *next);
  for (int i = 0; i < check_size; ++i) {
    CHECK_EQUAL(got[i], statuses[i].MPI_SOURCE);
    ++next[statuses[i].MPI_SOURCE];
  }
  for (int i = 0; i < check_size; ++i) CHECK_EQUAL(next[i], 1);

  for (int i = 0; i < check_size; ++i)
    MPI_Irecv(&got[i], 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < check_size; ++i)
    MPI_Isend(&check_rank, 1, MPI_INT, i, 100 + check_rank, MPI_COMM_WORLD, &out[i]);
  MPI_Waitall(check_size, receives, statuses);
  MPI_Waitall(check_size, out, MPI_STATUSES_IGNORE);
  for (int i = 0; i < check_size; ++i) {
    CHECK_EQUAL(got[i], i);
    CHECK_EQUAL(statuses[i].MPI_TAG, 100 + i);
  }
  free(receives);
  free(out);
  free(statuses);
  free(got);
  free(next);
  return check_end();
}
