/* Post, start, complete, wait: rings, asserts, tests, groups that are empty.
 * live: ranks 2 3 4 8
 * Open MPI 4.1 makes no such windows on one rank.
 * Windows' memory is aligned: MPICH 4.0 takes other addresses for less. */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  _Alignas(64) int memory[4] = {-1, -1, -1, -1};
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Group all, to, from;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &right, &to);
  MPI_Group_incl(all, 1, &left, &from);

  for (int round = 0; round < 5; ++round) {
    int value = 10 * check_rank + round;
    MPI_Win_post(from, round == 3 ? MPI_MODE_NOSTORE : 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, round % 4, 1, MPI_INT, win);
    MPI_Win_complete(win);
    if (round % 2) {
      int flag = 0;
      while (!flag) MPI_Win_test(win, &flag);
    } else {
      MPI_Win_wait(win);
    }
    CHECK_EQUAL(memory[round % 4], 10 * left + round);
  }

  /* With MPI_MODE_NOCHECK the post has been made, and the program knows it. */
  int value = 500 + check_rank;
  MPI_Win_post(from, MPI_MODE_NOCHECK, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_start(to, MPI_MODE_NOCHECK, win);
  MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  CHECK_EQUAL(memory[0], 500 + left);

  /* Nobody. */
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);

  /* Rank 0 exposes to all others, in turn with getting from all others. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Group first, others;
  const int zero = 0;
  MPI_Group_incl(all, 1, &zero, &first);
  MPI_Group_excl(all, 1, &zero, &others);
  for (int round = 0; round < 3; ++round) {
    if (check_rank == 0) {
      int got[64];
      memory[1] = 0;
      MPI_Win_post(others, 0, win);
      MPI_Win_wait(win);
      CHECK_EQUAL(memory[1], (check_size - 1) * (round + 1));
      MPI_Win_start(others, 0, win);
      for (int rank = 1; rank < check_size; ++rank)
        MPI_Get(got + rank, 1, MPI_INT, rank, 2, 1, MPI_INT, win);
      MPI_Win_complete(win);
      for (int rank = 1; rank < check_size; ++rank) CHECK_EQUAL(got[rank], 100 * rank + round);
    } else {
      const int add = round + 1;
      MPI_Win_start(first, 0, win);
      MPI_Accumulate(&add, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_complete(win);
      memory[2] = 100 * check_rank + round;
      MPI_Win_post(first, 0, win);
      MPI_Win_wait(win);
    }
  }
  MPI_Group_free(&first);
  MPI_Group_free(&others);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  return check_end();
}
