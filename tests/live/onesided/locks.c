/* Passive targets: locks exclude each other, and nobody loses an update.
 * live: ranks 2 3 4 8
 * Open MPI 4.1 makes no such windows on one rank.
 * Open MPI 4.1.4's own MPI_Compare_and_swap crashes.
 * Windows' memory is aligned: MPICH 4.0 takes other addresses for less. */
#include "check.h"

enum { kRounds = 25 };

static void count_on(MPI_Win win, volatile long* memory, int is_separate) {
  /* Get, add, put under an exclusive lock. */
  for (int round = 0; round < kRounds; ++round) {
    long value = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK_EQUAL(memory[0], (long)check_size * kRounds);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  /* A counter that every rank takes numbers from: all different. */
  long numbers[kRounds], seen = 0;
  const long one = 1, nothing = 0;
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Fetch_and_op(&one, &numbers[round], MPI_LONG, 0, 1, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (round > 0) CHECK(numbers[round] > numbers[round - 1]);
  }
  MPI_Win_unlock_all(win);
  long sum = 0, total = 0;
  for (int round = 0; round < kRounds; ++round) sum += numbers[round];
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long all = (long)check_size * kRounds;
  CHECK_EQUAL(total, all * (all - 1) / 2);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Fetch_and_op(&nothing, &seen, MPI_LONG, 0, 1, MPI_NO_OP, win);
  MPI_Win_unlock(0, win);
  CHECK_EQUAL(seen, all);

  /* A lock of the program's own, made of compare and swap. */
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int round = 0; round < 3; ++round) {
    const long mine = check_rank + 1, free = 0;
    long held = -1, value = -1;
    do {
      MPI_Compare_and_swap(&mine, &free, &held, MPI_LONG, 0, 2, win);
      MPI_Win_flush(0, win);
    } while (held != 0);
    MPI_Get(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    MPI_Compare_and_swap(&free, &mine, &held, MPI_LONG, 0, 2, win);
    MPI_Win_flush(0, win);
    CHECK_EQUAL(held, mine);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(&seen, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
  MPI_Win_flush_local(0, win);
  MPI_Win_unlock(0, win);
  CHECK_EQUAL(seen, 3 * check_size);
  (void)is_separate;
}

/* The target computes while it is written to; it sees the last value in the end. */
static void signal_to(MPI_Win win, volatile long* memory) {
  MPI_Win_lock_all(0, win);
  const int right = (check_rank + 1) % check_size;
  const long data = 40 + check_rank, one = 1;
  MPI_Put(&data, 1, MPI_LONG, right, 4, 1, MPI_LONG, win);
  MPI_Win_flush(right, win);
  MPI_Accumulate(&one, 1, MPI_LONG, right, 5, 1, MPI_LONG, MPI_REPLACE, win);
  MPI_Win_flush_all(win);
  long flag = 0, nothing = 0;
  while (flag == 0) {
    MPI_Fetch_and_op(&nothing, &flag, MPI_LONG, check_rank, 5, MPI_NO_OP, win);
    MPI_Win_flush(check_rank, win);
  }
  MPI_Win_sync(win);
  CHECK_EQUAL(memory[4], 40 + (check_rank + check_size - 1) % check_size);
  MPI_Win_flush_local_all(win);
  MPI_Win_unlock_all(win);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Win win;
  long* base;
  _Alignas(64) long memory[6] = {0, 0, 0, 0, 0, 0};
  MPI_Win_allocate(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, sizeof memory);
  MPI_Barrier(MPI_COMM_WORLD);
  count_on(win, base, 0);
  signal_to(win, base);
  MPI_Win_free(&win);
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  count_on(win, memory, 1);
  signal_to(win, memory);
  /* Who still wants its shared lock would queue behind the exclusive one, while others hold theirs until
   * it has come. */
  MPI_Barrier(MPI_COMM_WORLD);

  /* Two locks at a time, on different targets. */
  if (check_size > 1 && check_rank == 0) {
    long a = 1, b = 2;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(&a, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Put(&b, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    MPI_Win_unlock(1, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_size > 1 && check_rank < 2) {
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQUAL(memory[0], check_rank + 1);
    MPI_Win_unlock(check_rank, win);
  }
  MPI_Win_free(&win);
  return check_end();
}
