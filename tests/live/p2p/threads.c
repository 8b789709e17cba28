/* MPI_THREAD_MULTIPLE: threads of one rank that block in calls at the same time; to each
 * other, to their partners in other ranks, in collectives of a communicator each.
 * live: ranks 1 2 3 4 8
 * live: flags -pthread */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 50 };
static MPI_Comm comms[kThreads];
static pthread_mutex_t failed = PTHREAD_MUTEX_INITIALIZER;

#define SAFE(condition, ...)       \
  do {                             \
    pthread_mutex_lock(&failed);   \
    CHECK(condition, __VA_ARGS__); \
    pthread_mutex_unlock(&failed); \
  } while (0)

/* Two threads of a rank play ping-pong with blocking calls: one has to wait while the other goes
 * on. */
static void* player(void* argument) {
  const int me = (int)(long)argument, other = 1 - me;
  for (int i = 0; i < kRounds; ++i) {
    int value = 1000 * me + i, got = -1;
    if (me == 0) MPI_Ssend(&value, 1, MPI_INT, check_rank, 10 + other, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, check_rank, 10 + me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Ssend(&value, 1, MPI_INT, check_rank, 10 + other, MPI_COMM_WORLD);
    SAFE(got == 1000 * other + i, "thread %d got %d in round %d", me, got, i);
  }
  return NULL;
}

/* Every thread goes round the ring in its own communicator. */
static void* ring(void* argument) {
  const int me = (int)(long)argument;
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < kRounds; ++i) {
    int value = 1000 * me + 10 * check_rank + i, got = -1;
    MPI_Request requests[2];
    switch (i % 3) {
      case 0:
        MPI_Sendrecv(&value, 1, MPI_INT, next, me, &got, 1, MPI_INT, previous, me, comms[me],
                     MPI_STATUS_IGNORE);
        break;
      case 1:
        MPI_Irecv(&got, 1, MPI_INT, previous, me, comms[me], &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, next, me, comms[me], &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
      default:
        MPI_Isend(&value, 1, MPI_INT, next, me, comms[me], &requests[0]);
        MPI_Probe(previous, me, comms[me], MPI_STATUS_IGNORE);
        MPI_Recv(&got, 1, MPI_INT, previous, me, comms[me], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    SAFE(got == 1000 * me + 10 * previous + i, "thread %d got %d in round %d", me, got, i);
    int sum = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
    SAFE(sum == check_size * (check_size - 1) / 2, "thread %d: sum %d", me, sum);
  }
  return NULL;
}

static void together(void* (*work)(void*), int threads) {
  pthread_t ids[kThreads];
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
}

static void* not_main(void* argument) {
  MPI_Is_thread_main((int*)argument);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1, level = -1, is_main = 0, other_is = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Query_thread(&level);
  CHECK_EQUAL(level, provided);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main);
  pthread_t id;
  pthread_create(&id, NULL, not_main, &other_is);
  pthread_join(id, NULL);
  CHECK(!other_is);
  together(player, 2);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  together(ring, kThreads);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  return check_end();
}
