/* Threads of one rank that call MPI at once, each on tags and communicators of
 * its own:
 *
 *   threads ROUNDS      four threads a rank; every form of message, and collectives
 *   threads ROUNDS big  with messages that are rendezvous
 *
 * Rank 0 prints whether all got what was sent to them, or that this MPI has no
 * MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 4, kMost = 1 << 16 };

static int rank, size, rounds, most;
static MPI_Comm comms[kThreads];

struct Thread {
  int number;
  long long wrong;
};

static int value(int from, int thread, int round, int place) {
  return ((from * 7 + thread) * 1009 + round) * 31 + place;
}

static void fill(int* data, int count, int thread, int round) {
  for (int i = 0; i < count; ++i) data[i] = value(rank, thread, round, i);
}

static long long check(const int* data, int count, int from, int thread, int round) {
  long long wrong = 0;
  for (int i = 0; i < count; ++i) wrong += data[i] != value(from, thread, round, i);
  return wrong;
}

/* A token that goes from thread to thread, each on another rank: whoever waits for
 * it is in a blocking call while others of its rank make theirs. */
static void pass_token(int t, int round) {
  const int here = t % size == rank;
  const int from = (t + kThreads - 1) % kThreads % size;
  const int to = (t + 1) % kThreads;
  int token = round;
  if (!here) return;
  if (t == 0) usleep(1000);
  if (t > 0) MPI_Recv(&token, 1, MPI_INT, from, 90 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&token, 1, MPI_INT, to % size, 90 + to, MPI_COMM_WORLD);
  if (t == 0) MPI_Recv(&token, 1, MPI_INT, from, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In each round a thread makes 1 Send, 2 Recv, 1 Irecv, 2 Isend, 1 Waitall, 1 Wait,
 * 1 Sendrecv, 1 Allreduce, 1 Bcast, and the token's calls. */
static void* work(void* argument) {
  struct Thread* self = argument;
  const int t = self->number;
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  int* out = malloc(kMost * sizeof *out);
  int* in = malloc(kMost * sizeof *in);
  for (int round = 0; round < rounds; ++round) {
    const int count = 1 + ((round * 5 + t) * 7919) % most;
    MPI_Status status, statuses[2];
    pass_token(t, round);
    fill(out, count, t, round);
    /* One after the other along the ring. */
    if (rank == 0) {
      MPI_Send(out, count, MPI_INT, right, 10 + t, MPI_COMM_WORLD);
      MPI_Recv(in, kMost, MPI_INT, left, 10 + t, MPI_COMM_WORLD, &status);
    } else {
      MPI_Recv(in, kMost, MPI_INT, left, 10 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, count, MPI_INT, right, 10 + t, MPI_COMM_WORLD);
    }
    self->wrong += check(in, count, left, t, round);
    /* All at once. */
    MPI_Request requests[2];
    MPI_Irecv(in, kMost, MPI_INT, MPI_ANY_SOURCE, 30 + t, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, MPI_INT, right, 30 + t, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    self->wrong += check(in, count, left, t, round);
    /* One that is looked for. */
    MPI_Isend(out, count, MPI_INT, right, 50 + t, MPI_COMM_WORLD, &requests[0]);
    int there = 0;
    while (!there) MPI_Iprobe(left, 50 + t, MPI_COMM_WORLD, &there, &status);
    MPI_Recv(in, kMost, MPI_INT, left, 50 + t, MPI_COMM_WORLD, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    self->wrong += check(in, count, left, t, round);
    MPI_Sendrecv(out, count, MPI_INT, left, 70 + t, in, kMost, MPI_INT, right, 70 + t,
                 MPI_COMM_WORLD, &status);
    self->wrong += check(in, count, right, t, round);
    int sum = 0;
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
    self->wrong += sum != size * round;
    int root = rank == t % size ? round : -1;
    MPI_Bcast(&root, 1, MPI_INT, t % size, comms[t]);
    self->wrong += root != round;
  }
  free(out);
  free(in);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  struct Thread states[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rounds = argc > 1 ? atoi(argv[1]) : 10;
  most = argc > 2 && strcmp(argv[2], "big") == 0 ? kMost : 16;
  if (provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) puts("no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  for (int t = 0; t < kThreads; ++t) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    states[t] = (struct Thread){t, 0};
  }
  /* Twice: threads come and go. */
  for (int again = 0; again < 2; ++again) {
    for (int t = 1; t < kThreads; ++t) pthread_create(&threads[t], NULL, work, &states[t]);
    work(&states[0]);
    for (int t = 1; t < kThreads; ++t) pthread_join(threads[t], NULL);
  }
  long long wrong = 0, all = 0;
  for (int t = 0; t < kThreads; ++t) {
    wrong += states[t].wrong;
    MPI_Comm_free(&comms[t]);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d rounds, %lld wrong\n", size, rounds, all);
  MPI_Finalize();
  return 0;
}
