#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "foretrace.h"

static int rank, size;

/* All send to rank 0, which takes whatever comes; the last is the slowest. */
static void wildcards(void) {
  int value = rank;
  if (rank > 0) {
    FORETRACE_COMPUTE(1000.0 * rank);
    MPI_Send(&value, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
  } else {
    for (int i = 1; i < size; ++i)
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Odd ranks meet each other, and rank 3 is late; even ranks have nothing to wait for. */
static void subcommunicators(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  FORETRACE_COMPUTE(rank == 3 ? 9000.0 : 2000.0);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
}

static void empty(void) {
  FORETRACE_COMPUTE(1000.0 * (rank + 1));
  MPI_Bcast(NULL, 0, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void *receive(void *value) {
  FORETRACE_COMPUTE(500.0);
  MPI_Recv(value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}
static void threads(void) {
  int value = rank;
  pthread_t other;
  if (rank > 1) return;
  pthread_create(&other, NULL, receive, malloc(sizeof(int)));
  FORETRACE_COMPUTE(1000.0 * (rank + 1));
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
  pthread_join(other, NULL);
}

/* Rank 1 goes when all have left the first barrier: who is killed inside has not recorded it, and
 * all wait for it. They tell by files, which are in no trace. */
static void incomplete(const char *program) {
  char name[4096];
  empty();
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "%s.%d", program, rank);
  fclose(fopen(name, "w"));
  for (int other = 0; rank == 1 && other < size; ++other) {
    snprintf(name, sizeof name, "%s.%d", program, other);
    while (access(name, F_OK) != 0) usleep(1000);
  }
  if (rank == 1) abort();
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "wildcards") == 0) wildcards();
  if (strcmp(argv[1], "subcommunicators") == 0) subcommunicators();
  if (strcmp(argv[1], "empty") == 0) empty();
  if (strcmp(argv[1], "threads") == 0) threads();
  if (strcmp(argv[1], "incomplete") == 0) incomplete(argv[0]);
  MPI_Finalize();
  return 0;
}
