/* Ranks that poll: how programs wait that have other things to do meanwhile.
 *
 *   bench_polling active ITEMS    active messages, as graph searches send them: each rank works on
 *                                 ITEMS items of about a microsecond, sends a small message to some
 *                                 rank after every 16, and looks after each item for messages and
 *                                 for sends that are done; the end of a round is polled for, too
 *   bench_polling tests ITEMS     each sends to the next and waits for the last by MPI_Test
 *   bench_polling rendezvous N    collectives and synchronous sends, one after the other
 *   bench_polling files N         collective writes and reads of a shared file
 *
 * Prints, on rank 0, the seconds between MPI_Init and MPI_Finalize, and the CPU seconds of all ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;
static volatile double sink;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(void) {
  double value = 1;
  for (int i = 0; i < 250; ++i) value = value * 1.0000001 + 1e-9;
  sink = value;
}

enum { kSlots = 8, kItems = 16, kRounds = 4 };

struct Active {
  MPI_Request incoming;
  MPI_Request outgoing[kSlots];
  int in[kItems];
  int out[kSlots][kItems];
  long received;
  long sent;
};

static void look(struct Active* state) {
  int flag = 1;
  while (flag) {
    MPI_Test(&state->incoming, &flag, MPI_STATUS_IGNORE);
    if (!flag) break;
    ++state->received;
    MPI_Irecv(state->in, kItems, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &state->incoming);
  }
  int done = 0;
  int indices[kSlots];
  MPI_Status statuses[kSlots];
  MPI_Testsome(kSlots, state->outgoing, &done, indices, statuses);
}

static int free_slot(struct Active* state) {
  for (;;) {
    for (int i = 0; i < kSlots; ++i)
      if (state->outgoing[i] == MPI_REQUEST_NULL) return i;
    look(state);
  }
}

static void active_round(struct Active* state, int items, unsigned* seed) {
  for (int i = 0; i < items; ++i) {
    work();
    if (i % kItems == kItems - 1) {
      *seed = *seed * 1664525u + 1013904223u;
      const int slot = free_slot(state);
      MPI_Isend(state->out[slot], kItems, MPI_INT, (int)((*seed >> 16) % (unsigned)size), 1,
                MPI_COMM_WORLD, &state->outgoing[slot]);
      ++state->sent;
    }
    look(state);
  }
  long all[2];
  do {
    long own[2] = {state->sent, state->received};
    MPI_Request sum;
    int flag = 0;
    MPI_Iallreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &sum);
    while (!flag) {
      look(state);
      MPI_Test(&sum, &flag, MPI_STATUS_IGNORE);
    }
  } while (all[0] != all[1]);
}

static void active(int items) {
  struct Active state;
  memset(&state, 0, sizeof state);
  unsigned seed = (unsigned)rank + 1;
  for (int i = 0; i < kSlots; ++i) state.outgoing[i] = MPI_REQUEST_NULL;
  MPI_Irecv(state.in, kItems, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &state.incoming);
  for (int round = 0; round < kRounds; ++round) active_round(&state, items, &seed);
  MPI_Cancel(&state.incoming);
  MPI_Wait(&state.incoming, MPI_STATUS_IGNORE);
}

static void tests(int items) {
  int in = 0;
  for (int i = 0; i < items; ++i) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int flag = 0;
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &requests[1]);
    while (!flag) MPI_Testall(2, requests, &flag, statuses);
    work();
  }
}

static void rendezvous(int times) {
  int in = 0;
  double sum = 0, own = 1;
  for (int i = 0; i < times; ++i) {
    if (rank == i % size) work();
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank % 2 == 0 && rank + 1 < size) MPI_Ssend(&rank, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
    if (rank % 2 == 1) MPI_Recv(&in, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&in, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void files(int times) {
  static char data[4096];
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "bench_polling.dat",
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  for (int i = 0; i < times; ++i) {
    const MPI_Offset at = (MPI_Offset)(i * size + rank) * (MPI_Offset)sizeof data;
    MPI_File_write_at_all(file, at, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, at, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int number = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  double spent = cpu_seconds(), all = 0;
  if (strcmp(argv[1], "active") == 0) active(number);
  if (strcmp(argv[1], "tests") == 0) tests(number);
  if (strcmp(argv[1], "rendezvous") == 0) rendezvous(number);
  if (strcmp(argv[1], "files") == 0) files(number);
  MPI_Barrier(MPI_COMM_WORLD);
  clock_gettime(CLOCK_MONOTONIC, &end);
  spent = cpu_seconds() - spent;
  MPI_Reduce(&spent, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.6f %.6f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
           all);
  MPI_Finalize();
  return 0;
}
