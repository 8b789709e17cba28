/* One-sided communication in all kinds of epochs, in an order that no time decides: nobody waits for
 * a lock that another holds. Ranks compute for different times (FORETRACE_COMPUTE). Checks its data. */
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 4096 };
static int rank, size, right, left;
static MPI_Win win;
static double *memory;

static void expect(double found, double expected, const char *what) {
  if (found == expected) return;
  fprintf(stderr, "epochs: rank %d: %s: %g, expected %g\n", rank, what, found, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fences(void) {
  double out[1000], in[1000];
  for (int i = 0; i < 1000; ++i) out[i] = rank + i;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  FORETRACE_COMPUTE(10 * (rank + 1));
  MPI_Put(out, 1000, MPI_DOUBLE, right, 0, 1000, MPI_DOUBLE, win);
  MPI_Put(out, 10, MPI_DOUBLE, left, 1000, 10, MPI_DOUBLE, win);
  FORETRACE_COMPUTE(3);
  MPI_Put(out, 0, MPI_DOUBLE, left, 0, 0, MPI_DOUBLE, win);
  MPI_Put(out, 10, MPI_DOUBLE, MPI_PROC_NULL, 0, 10, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  expect(memory[999], left + 999, "fence, put");
  expect(memory[1009], right + 9, "fence, put to the left");
  MPI_Get(in, 1000, MPI_DOUBLE, right, 0, 1000, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  expect(in[500], rank + 500, "fence, get");
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void posts(void) {
  MPI_Group all, origins, targets;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &left, &origins);
  MPI_Group_incl(all, 1, &right, &targets);
  for (int round = 0; round < 3; ++round) {
    double value = 100 * round + rank, got = -1;
    FORETRACE_COMPUTE(7 * ((rank + round) % 3));
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, right, 2000 + round, 1, MPI_DOUBLE, win);
    FORETRACE_COMPUTE(rank);
    MPI_Get(&got, 1, MPI_DOUBLE, right, 999, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    expect(memory[2000 + round], 100 * round + left, "post");
    expect(got, rank + 999, "post, get");
  }
  /* One whose only access, the first to its target, is of no bytes. */
  MPI_Win_post(origins, 0, win);
  MPI_Win_start(targets, 0, win);
  MPI_Put(memory, 0, MPI_DOUBLE, right, 0, 0, MPI_DOUBLE, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  /* One without accesses. */
  MPI_Win_post(origins, 0, win);
  MPI_Win_start(targets, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&all);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
}

/* Each rank is locked by its left neighbour alone. */
static void locks(void) {
  double out[500];
  for (int i = 0; i < 500; ++i) out[i] = 7 * rank + i;
  for (int round = 0; round < 3; ++round) {
    FORETRACE_COMPUTE(5 * (rank % 2));
    MPI_Win_lock(round == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(out, 500, MPI_DOUBLE, right, 0, 500, MPI_DOUBLE, win);
    if (round > 0) MPI_Win_flush_local(right, win);
    if (round > 1) MPI_Win_flush(right, win);
    FORETRACE_COMPUTE(2);
    MPI_Win_unlock(right, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  expect(memory[499], 7 * left + 499, "lock");
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void all_locked(void) {
  double out[2000], in[2000], sum[4] = {1, 1, 1, 1}, before[4];
  long one = 1, old = 0, older = 0, compare = 0;
  MPI_Request requests[3];
  for (int i = 0; i < 2000; ++i) out[i] = rank - i;
  MPI_Win_lock_all(0, win);
  FORETRACE_COMPUTE(4 * rank);
  MPI_Get(in, 0, MPI_DOUBLE, right, 0, 0, MPI_DOUBLE, win);
  MPI_Rput(out, 2000, MPI_DOUBLE, right, 0, 2000, MPI_DOUBLE, win, &requests[0]);
  MPI_Raccumulate(sum, 4, MPI_DOUBLE, left, 3000, 4, MPI_DOUBLE, MPI_SUM, win, &requests[1]);
  FORETRACE_COMPUTE(1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Accumulate(sum, 4, MPI_DOUBLE, right, 3010, 4, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rget(in, 2000, MPI_DOUBLE, right, 0, 2000, MPI_DOUBLE, win, &requests[0]);
  MPI_Get_accumulate(sum, 4, MPI_DOUBLE, before, 4, MPI_DOUBLE, right, 3020, 4, MPI_DOUBLE, MPI_SUM,
                     win);
  MPI_Fetch_and_op(&one, &old, MPI_LONG, right, 3030, MPI_SUM, win);
  MPI_Compare_and_swap(&one, &compare, &older, MPI_LONG, left, 3040, win);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(in[1999], rank - 1999, "Rget");
  MPI_Win_flush_local_all(win);
  FORETRACE_COMPUTE(6);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  MPI_Win_allocate(kRoom * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &win);
  for (int i = 0; i < kRoom; ++i) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const char *parts = argc > 1 ? argv[1] : "fpla";
  for (const char *part = parts; *part; ++part) {
    if (*part == 'f') fences();
    if (*part == 'p') posts();
    if (*part == 'l') locks();
    if (*part == 'a') all_locked();
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
