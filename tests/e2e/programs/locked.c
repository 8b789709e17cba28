/* Ranks that want the lock of rank 0's memory while others hold it. Messages say who is first, so
   that the order is the same wherever the program runs. For four ranks. */
#include <mpi.h>
#include <stdio.h>

#include "foretrace.h"

static int rank;
static MPI_Win win, other;

static void tell(int to) {
  MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
}
static void hear(int from) {
  MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The access makes sure that the lock is held, however the MPI takes it. */
static void lock(int how, MPI_Win of) {
  int value;
  MPI_Win_lock(how, 0, 0, of);
  MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, of);
  MPI_Win_flush(0, of);
}

static void hold(double steps) {
  FORETRACE_COMPUTE(steps);
  MPI_Win_unlock(0, win);
}

/* From rank to rank: each asks while the one before holds it, and tells the next one when it has
   it itself. */
static void one_after_the_other(void) {
  if (rank > 1) hear(rank - 1);
  lock(MPI_LOCK_EXCLUSIVE, win);
  if (rank > 0 && rank < 3) tell(rank + 1);
  hold(1000.0 * rank);
}

/* Ranks 1 and 2 share it; 3 wants it alone. */
static void shared(void) {
  if (rank == 3) {
    hear(1);
    hear(2);
    lock(MPI_LOCK_EXCLUSIVE, win);
    hold(100);
  } else if (rank > 0) {
    lock(MPI_LOCK_SHARED, win);
    tell(3);
    hold(5000.0 * rank);
  }
}

/* Another window's lock is another one, and what nobody holds is free at once. */
static void free_ones(void) {
  if (rank == 1) {
    lock(MPI_LOCK_EXCLUSIVE, win);
    tell(2);
    hold(9000);
    tell(3);
  } else if (rank == 2) {
    hear(1);
    lock(MPI_LOCK_EXCLUSIVE, other);
    MPI_Win_unlock(0, other);
  } else if (rank == 3) {
    hear(1);
    FORETRACE_COMPUTE(500);
    lock(MPI_LOCK_SHARED, win);
    hold(0);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Win_unlock(0, win);
  }
}

int main(int argc, char** argv) {
  int* memory;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
  if (rank > 0) one_after_the_other();
  MPI_Barrier(MPI_COMM_WORLD);
  shared();
  MPI_Barrier(MPI_COMM_WORLD);
  free_ones();
  MPI_Win_free(&other);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
