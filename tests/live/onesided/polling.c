/* Ranks that look into a window until something is there, while those they wait for
 * have other things to do first.
 * live: ranks 2 4 8
 * live: not real mpich
 * Open MPI 4.1 makes no such windows on one rank; MPICH 4.0 itself does not let
 * the accumulate in while its target looks in the ways 2 and 3. */
#include "check.h"

static int look(MPI_Win win, int kind, volatile int* memory, int at) {
  int value = 0;
  switch (kind) {
    case 0:
      MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
      MPI_Get(&value, 1, MPI_INT, check_rank, at, 1, MPI_INT, win);
      MPI_Win_unlock(check_rank, win);
      return value;
    case 1:
      MPI_Get(&value, 1, MPI_INT, check_rank, at, 1, MPI_INT, win);
      MPI_Win_flush(check_rank, win);
      return value;
    case 2: {
      MPI_Request request;
      MPI_Rget(&value, 1, MPI_INT, check_rank, at, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return value;
    }
    default:
      MPI_Win_sync(win);
      return memory[at];
  }
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, 64 * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  const int last = check_size - 1;
  for (int kind = 0; kind < 4; ++kind) {
    if (kind > 0) MPI_Win_lock_all(0, win);
    /* The token goes from rank to rank; before it goes on, its holder and the last rank
     * exchange messages, the last one as they come. */
    if (check_rank < last) {
      if (check_rank > 0)
        while (look(win, kind, memory, kind) == 0) {}
      int data = check_rank;
      for (int i = 0; i < 3; ++i) {
        MPI_Send(&data, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, last, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      CHECK_EQUAL(data, check_rank + 3);
      const int one = 1;
      if (kind == 0) MPI_Win_lock(MPI_LOCK_SHARED, check_rank + 1, 0, win);
      MPI_Accumulate(&one, 1, MPI_INT, check_rank + 1, kind, 1, MPI_INT, MPI_REPLACE, win);
      if (kind == 0)
        MPI_Win_unlock(check_rank + 1, win);
      else
        MPI_Win_flush(check_rank + 1, win);
    } else {
      for (int i = 0; i < 3 * last; ++i) {
        int data;
        MPI_Status status;
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
        ++data;
        MPI_Send(&data, 1, MPI_INT, status.MPI_SOURCE, 6, MPI_COMM_WORLD);
        CHECK_EQUAL(status.MPI_SOURCE, i / 3); /* the token's order */
      }
      while (look(win, kind, memory, kind) == 0) {}
    }
    if (kind > 0) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  return check_end();
}
