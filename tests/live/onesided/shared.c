/* Shared windows: where the parts lie, loads and stores in others' parts. */
#include "check.h"

static void look(int gaps) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", gaps ? "true" : "false");
  const MPI_Aint mine = (check_rank % 3) * 16; /* every third has nothing */
  int* base;
  MPI_Win win;
  MPI_Win_allocate_shared(mine, check_rank % 2 ? 4 : 8, info, MPI_COMM_WORLD, &base, &win);
  MPI_Info_free(&info);
  MPI_Win_fence(0, win);
  for (int i = 0; i < mine / 4; ++i) base[i] = 100 * check_rank + i;
  MPI_Win_fence(0, win);
  char* expected = NULL;
  for (int rank = 0; rank < check_size; ++rank) {
    MPI_Aint size = -1;
    int unit = -1;
    int* part = NULL;
    MPI_Win_shared_query(win, rank, &size, &unit, &part);
    /* Open MPI rounds parts that may have gaps up to pages. */
    CHECK(gaps ? size >= (rank % 3) * 16 : size == (rank % 3) * 16, "%ld", (long)size);
    CHECK_EQUAL(unit, rank % 2 ? 4 : 8);
    for (int i = 0; i < (rank % 3) * 4; ++i) CHECK_EQUAL(part[i], 100 * rank + i);
    if (rank == check_rank && mine > 0) CHECK(part == base);
    if (!getenv("TESTS_LIVE_REAL")) CHECK((size == 0) == (part == NULL));
    if (size > 0) {
      if (!gaps && expected) CHECK((char*)part == expected);
      expected = (char*)part + size;
    }
  }
  MPI_Aint size = -1;
  int unit = -1;
  int *part = NULL, *second = NULL;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &part);
  if (check_size > 1) {
    MPI_Aint other;
    MPI_Win_shared_query(win, 1, &other, &unit, &second);
    CHECK(gaps || part == second);
    CHECK(gaps || size == other);
  }
  MPI_Win_fence(0, win);
  if (check_rank == 0 && check_size > 1) second[1] = -5;
  MPI_Win_fence(0, win);
  if (check_rank == 1) CHECK_EQUAL(base[1], -5);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  look(0);
  look(1);

  /* As programs use it: one rank of the node has all the memory. */
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank, size;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  double* table;
  MPI_Win win;
  MPI_Win_allocate_shared(rank == 0 ? size * sizeof(double) : 0, sizeof(double), MPI_INFO_NULL, node, &table, &win);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(win, 0, &bytes, &unit, &table);
  CHECK_EQUAL(bytes, size * sizeof(double));
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  table[rank] = rank + 0.5;
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
  for (int i = 0; i < size; ++i) CHECK(table[i] == i + 0.5);
  MPI_Win_unlock_all(win);

  /* Exclusive locks guard loads and stores. */
  MPI_Barrier(node);
  if (rank == 0) table[0] = 0;
  MPI_Barrier(node);
  for (int round = 0; round < 10; ++round) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    ++*(volatile double*)table;
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(node);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK(table[0] == 10.0 * size);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
  return check_end();
}
