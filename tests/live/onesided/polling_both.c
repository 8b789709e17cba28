/* Ranks that look into a window and for messages in turn, as ARMCI's servers do: what they
 * wait for comes by the window, so a look for messages must not let much time pass: it would
 * be more in each round, and soon the run would not end.
 * live: ranks 2 4 8
 * live: options --compute measured */
#include "check.h"

int main(int argc, char** argv) {
  enum { kRounds = 50 };
  check_init(&argc, &argv);
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = check_rank == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (check_rank + 1) % check_size;
  for (int round = 1; round <= kRounds; ++round) {
    for (int value = 0, flag;;) {
      MPI_Win_lock(MPI_LOCK_SHARED, check_rank, MPI_MODE_NOCHECK, win);
      MPI_Fetch_and_op(NULL, &value, MPI_INT, check_rank, 0, MPI_NO_OP, win);
      MPI_Win_unlock(check_rank, win);
      if (value >= round) break;
      for (int i = 0; i < 4; ++i) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message that nobody sent");
      }
    }
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win);
    MPI_Accumulate(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(next, win);
  }
  MPI_Win_free(&win);
  return check_end();
}
