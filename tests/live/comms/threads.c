/* Threads that make communicators at the same time, each from its own, in any order. */
/* live: ranks 2 3 4 */
/* live: flags -pthread */
/* live: not under record */
/* live: not under predict */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kTimes = 5 };
static MPI_Comm base[kThreads];

static void* make(void* which) {
  const int number = (int)(size_t)which;
  for (int i = 0; i < kTimes; ++i) {
    MPI_Comm same, half, created, inter, merged;
    int sum, rank;
    CHECK_OK(MPI_Comm_dup(base[number], &same));
    CHECK_OK(MPI_Comm_split(same, check_rank % 2, -check_rank, &half));
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, half);
    int expected = 0;
    for (int r = check_rank % 2; r < check_size; r += 2) expected += r;
    CHECK_EQUAL(sum, expected);
    MPI_Comm_rank(half, &rank);
    CHECK_EQUAL(rank, (check_size - 1 - check_rank) / 2);
    MPI_Group group;
    MPI_Comm_group(half, &group);
    CHECK_OK(MPI_Comm_create(same, group, &created));
    MPI_Group_free(&group);
    /* The leaders are the last of each half. */
    const int last = check_size - 1, other = last % 2 == check_rank % 2 ? last - 1 : last;
    CHECK_OK(MPI_Intercomm_create(half, 0, same, other, 3, &inter));
    CHECK_OK(MPI_Intercomm_merge(inter, check_rank % 2, &merged));
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
    MPI_Comm* made[] = {&same, &half, &created, &inter, &merged};
    for (int c = 0; c < 5; ++c) MPI_Comm_free(made[c]);
  }
  return 0;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  CHECK_EQUAL(level, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &base[i]);
  pthread_t threads[kThreads];
  /* Each rank starts them in another order. */
  for (int i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], 0, make, (void*)(size_t)((i + check_rank) % kThreads));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&base[i]);
  return check_end();
}
