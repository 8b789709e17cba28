/* Accumulating operations: operations, layouts, order, atomicity.
 * live: ranks 2 3 4 8
 * Open MPI 4.1 makes no such windows on one rank.
 * Open MPI 4.1's own MPI_Get_accumulate with a derived result type gets nothing.
 * Windows' memory is aligned: MPICH 4.0 takes other addresses for less. */
#include "check.h"

static void operations(void) {
  unsigned* base;
  MPI_Win win;
  MPI_Win_allocate(8 * sizeof(unsigned), sizeof(unsigned), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  const MPI_Op ops[8] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LOR};
  const unsigned start[8] = {5, 1, 3, 50, ~0u, 0, 0, 0};
  for (int i = 0; i < 8; ++i) base[i] = start[i];
  MPI_Win_fence(0, win);
  const unsigned mine = (unsigned)check_rank + 2;
  for (int i = 0; i < 8; ++i)
    MPI_Accumulate(&mine, 1, MPI_UNSIGNED, 0, i, 1, MPI_UNSIGNED, ops[i], win);
  MPI_Win_fence(0, win);
  if (check_rank == 0) {
    unsigned expected[8];
    memcpy(expected, start, sizeof start);
    for (unsigned v = 2; v < (unsigned)check_size + 2; ++v) {
      expected[0] += v;
      expected[1] *= v;
      expected[2] = v > expected[2] ? v : expected[2];
      expected[3] = v < expected[3] ? v : expected[3];
      expected[4] &= v;
      expected[5] |= v;
      expected[6] ^= v;
      expected[7] = 1;
    }
    for (int i = 0; i < 8; ++i) CHECK_EQUAL(base[i], expected[i]);
  }
  MPI_Win_free(&win);
}

/* A column of a matrix of the target's, from a row of the origin's. */
static void layouts(void) {
  _Alignas(64) long matrix[6][5];
  MPI_Win win;
  MPI_Win_create(matrix, sizeof matrix, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j) matrix[i][j] = 10 * i + j;
  MPI_Datatype column;
  MPI_Type_vector(6, 1, 5, MPI_LONG, &column);
  MPI_Type_commit(&column);
  long row[6] = {1, 2, 3, 4, 5, 6}, before[12];
  MPI_Win_fence(0, win);
  MPI_Accumulate(row, 6, MPI_LONG, 0, 2, 1, column, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (check_rank == 0)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 5; ++j)
        CHECK_EQUAL(matrix[i][j], 10 * i + j + (j == 2 ? (i + 1) * check_size : 0));
  MPI_Win_fence(0, win);
  for (int i = 0; i < 12; ++i) before[i] = -3;
  MPI_Datatype spread;
  MPI_Type_vector(6, 1, 2, MPI_LONG, &spread);
  MPI_Type_commit(&spread);
  const int right = (check_rank + 1) % check_size;
  MPI_Get_accumulate(row, 6, MPI_LONG, before, 1, spread, right, 4, 1, column, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 6; ++i) {
    CHECK_EQUAL(before[2 * i], 10 * i + 4);
    if (i < 5) CHECK_EQUAL(before[2 * i + 1], -3);
    CHECK_EQUAL(matrix[i][4], i + 1);
    CHECK_EQUAL(matrix[i][3], 10 * i + 3);
  }
  MPI_Win_fence(0, win);
  memset(before, 0, sizeof before);
  MPI_Get_accumulate(NULL, 0, MPI_LONG, before, 6, MPI_LONG, right, 4, 1, column, MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 6; ++i) CHECK_EQUAL(before[i], i + 1);
  MPI_Type_free(&column);
  MPI_Type_free(&spread);
  MPI_Win_free(&win);
}

/* Operations of one origin on one place happen in their order. */
/* A type without elements. */
static void nothing(void) {
  int memory[1] = {7}, result[1] = {8};
  MPI_Datatype empty;
  MPI_Win win;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  CHECK_OK(MPI_Accumulate(memory, 1, empty, 0, 0, 1, empty, MPI_SUM, win));
  CHECK_OK(MPI_Get_accumulate(memory, 0, MPI_INT, result, 1, empty, 0, 0, 1, empty, MPI_SUM, win));
  MPI_Win_fence(0, win);
  CHECK(memory[0] == 7 && result[0] == 8);
  MPI_Win_free(&win);
  MPI_Type_free(&empty);
}

static void order(void) {
  _Alignas(64) int memory[1] = {0};
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const int right = (check_rank + 1) % check_size;
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  int old[50], next[50];
  for (int i = 0; i < 50; ++i) {
    next[i] = i + 1;
    MPI_Get_accumulate(&next[i], 1, MPI_INT, &old[i], 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, win);
  }
  MPI_Win_unlock(right, win);
  for (int i = 0; i < 50; ++i) CHECK_EQUAL(old[i], i);
  MPI_Win_free(&win);
}

/* Everybody adds to every element of everybody, at the same time. */
static void crowd(void) {
  enum { kCount = 64 };
  _Alignas(64) long memory[kCount];
  memset(memory, 0, sizeof memory);
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  long ones[kCount], old;
  for (int i = 0; i < kCount; ++i) ones[i] = 1;
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 20; ++round)
    for (int target = 0; target < check_size; ++target) {
      MPI_Accumulate(ones, kCount, MPI_LONG, target, 0, kCount, MPI_LONG, MPI_SUM, win);
      MPI_Fetch_and_op(ones, &old, MPI_LONG, target, 3, MPI_SUM, win);
      MPI_Win_flush(target, win);
    }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
  for (int i = 0; i < kCount; ++i) CHECK_EQUAL(memory[i], 20L * check_size * (i == 3 ? 2 : 1));
  MPI_Win_unlock(check_rank, win);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  operations();
  layouts();
  nothing();
  order();
  crowd();
  return check_end();
}
