/* Put, get and accumulate between fences, on windows of every kind that fences fit.
 * live: ranks 2 3 4 8
 * Open MPI 4.1 makes no such windows on one rank.
 * Windows' memory is aligned: MPICH 4.0 takes other addresses for less. */
#include "check.h"

enum { kCount = 40 };

static void exchange(MPI_Win win, int* memory) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int out[kCount], in[kCount];
  for (int i = 0; i < kCount; ++i) {
    memory[i] = 1000 * check_rank + i;
    out[i] = -(1000 * check_rank + i);
    in[i] = 77;
  }
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Get(in, kCount, MPI_INT, left, 0, kCount, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kCount; ++i) CHECK_EQUAL(in[i], 1000 * left + i);
  MPI_Put(out, kCount, MPI_INT, right, 0, kCount, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  for (int i = 0; i < kCount; ++i) CHECK_EQUAL(memory[i], -(1000 * left + i));

  /* Every third element of the right neighbour, from every second of ours. */
  MPI_Datatype second, third;
  MPI_Type_vector(10, 1, 2, MPI_INT, &second);
  MPI_Type_vector(10, 1, 3, MPI_INT, &third);
  MPI_Type_commit(&second);
  MPI_Type_commit(&third);
  for (int i = 0; i < kCount; ++i) {
    memory[i] = 5;
    out[i] = 100 * check_rank + i;
  }
  MPI_Win_fence(0, win);
  MPI_Put(out, 1, second, right, 4, 1, third, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kCount; ++i) {
    const int at = i - 4;
    const int hit = at >= 0 && at % 3 == 0 && at / 3 < 10;
    CHECK_EQUAL(memory[i], hit ? 100 * left + 2 * (at / 3) : 5);
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < kCount; ++i) in[i] = 9;
  MPI_Get(in, 1, third, left, 4, 10, MPI_INT, win);
  MPI_Win_fence(0, win);
  const int far = (left + check_size - 1) % check_size;
  for (int i = 0; i < kCount; ++i) {
    const int hit = i % 3 == 0 && i / 3 < 10;
    const int at = i / 3; /* the left neighbour's element at + 4 */
    CHECK_EQUAL(in[i], !hit ? 9 : at % 3 == 0 ? 100 * far + 2 * (at / 3) : 5);
  }
  MPI_Type_free(&second);
  MPI_Type_free(&third);

  MPI_Win_fence(0, win);
  for (int i = 0; i < kCount; ++i) memory[i] = i;
  MPI_Win_fence(0, win);
  for (int target = 0; target < check_size; ++target)
    MPI_Accumulate(out, kCount, MPI_INT, target, 0, kCount, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < kCount; ++i) {
    int sum = i;
    for (int rank = 0; rank < check_size; ++rank) sum += 100 * rank + i;
    CHECK_EQUAL(memory[i], sum);
  }
  MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  _Alignas(64) int memory[kCount];
  int* base;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  exchange(win, memory);
  exchange(win, memory);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);

  MPI_Win_allocate(kCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  exchange(win, base);
  MPI_Win_free(&win);

  MPI_Win_allocate_shared(kCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  exchange(win, base);
  MPI_Win_free(&win);

  /* Windows of different sizes and units; the last rank has none. */
  const int mine = check_rank == check_size - 1 ? 0 : (check_rank + 1) * 64;
  long long *parts, value = 1000 + check_rank;
  MPI_Win_allocate(mine, check_rank % 2 ? 8 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &parts, &win);
  memset(parts, 0, mine);
  MPI_Win_fence(0, win);
  for (int target = check_rank; target < check_size - 1; ++target)
    MPI_Put(&value, 1, MPI_LONG_LONG, target, target % 2 ? 8 * check_rank : 64 * check_rank, 1, MPI_LONG_LONG, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < mine / 8; ++i) CHECK_EQUAL(parts[i], i % 8 ? 0 : 1000 + i / 8);
  MPI_Win_free(&win);
  return check_end();
}
