/* Ranks that poll: how programs wait that have other things to do meanwhile.
 *
 *   bench_polling active ITEMS    active messages, as graph searches send them: each rank works on
 *                                 ITEMS items of about a microsecond, sends a small message to some
 *                                 rank after every 16, and looks after each item for messages and
 *                                 for sends that are done; the end of a round is polled for, too
 *   bench_polling probes ITEMS    the same by MPI_Iprobe and MPI_Recv
 *   bench_polling search ITEMS    the same with some forty microseconds of work for each message, and
 *                                 several receives open, of which MPI_Testany finds the next
 *   bench_polling tests ITEMS     each sends to the next and waits for the last by MPI_Test
 *   bench_polling overlap ITEMS   the same in both directions, and works for some ten microseconds
 *                                 between two tests
 *   bench_polling some ITEMS      rank 0 hands out work, and waits for results by MPI_Waitsome
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

/* Of about a microsecond each. */
static void work(int items) {
  double value = 1;
  for (int i = 0; i < 250 * items; ++i) value = value * 1.0000001 + 1e-9;
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
    work(1);
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
    work(1);
  }
}

/* One message to another rank after each item; who has handled how many is summed up at the end. */
static void probes(int items) {
  unsigned seed = (unsigned)rank + 1;
  int message[kItems] = {0};
  long received = 0, sent = 0, all[2] = {1, 0};
  for (int i = 0; i < items || all[0] != all[1]; ++i) {
    MPI_Request sum = MPI_REQUEST_NULL;
    int flag = 1, ended = 1;
    work(1);
    if (i < items) {
      if (i % kItems == 0) {
        seed = seed * 1664525u + 1013904223u;
        MPI_Send(message, kItems, MPI_INT, (int)((seed >> 16) % (unsigned)size), 1, MPI_COMM_WORLD);
        ++sent;
      }
    } else {
      long own[2] = {sent, received};
      MPI_Iallreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &sum);
      ended = 0;
    }
    do {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
      if (flag) {
        MPI_Recv(message, kItems, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++received;
        work(4);
      }
      if (!ended) MPI_Test(&sum, &ended, MPI_STATUS_IGNORE);
    } while (flag || !ended);
  }
}

enum { kOpen = 4 };

struct Search {
  MPI_Request in[kOpen];
  int data[kOpen][kItems];
  long received;
};

static void answer_one(struct Search* state) {
  int index = 0, flag = 0;
  MPI_Testany(kOpen, state->in, &index, &flag, MPI_STATUS_IGNORE);
  if (!flag) return;
  ++state->received;
  work(40);
  MPI_Start(&state->in[index]);
}

static void search(int items) {
  struct Search state;
  memset(&state, 0, sizeof state);
  unsigned seed = (unsigned)rank + 1;
  int out[kItems] = {0};
  long sent = 0, all[2];
  for (int i = 0; i < kOpen; ++i)
    MPI_Recv_init(state.data[i], kItems, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &state.in[i]);
  MPI_Startall(kOpen, state.in);
  for (int i = 0; i < items; ++i) {
    MPI_Request send;
    int flag = 0;
    work(10);
    seed = seed * 1664525u + 1013904223u;
    MPI_Isend(out, kItems, MPI_INT, (int)((seed >> 16) % (unsigned)size), 1, MPI_COMM_WORLD, &send);
    ++sent;
    while (!flag) {
      MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
      answer_one(&state);
    }
  }
  do {
    long own[2] = {sent, state.received};
    MPI_Request sum;
    int flag = 0;
    MPI_Iallreduce(own, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &sum);
    while (!flag) {
      answer_one(&state);
      MPI_Test(&sum, &flag, MPI_STATUS_IGNORE);
    }
  } while (all[0] != all[1]);
  for (int i = 0; i < kOpen; ++i) {
    MPI_Cancel(&state.in[i]);
    MPI_Wait(&state.in[i], MPI_STATUS_IGNORE);
    MPI_Request_free(&state.in[i]);
  }
}

static void overlap(int items) {
  int in[2] = {0};
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int i = 0; i < items; ++i) {
    MPI_Request requests[4];
    MPI_Irecv(&in[0], 1, MPI_INT, last, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, last, 3, MPI_COMM_WORLD, &requests[3]);
    for (int at = 0; at < 4; ++at)
      for (int flag = 0; !flag; work(10)) MPI_Test(&requests[at], &flag, MPI_STATUS_IGNORE);
  }
}

/* Rank 0 has two pieces of work under way at each other rank. */
static void some(int items) {
  enum { kMost = 128 };
  int in[kMost], index[kMost], going = 0, given = 0;
  const int others = size - 1;
  if (rank > 0) {
    for (;;) {
      int piece = 0;
      MPI_Recv(&piece, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (piece < 0) return;
      work(10);
      MPI_Send(&piece, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
  }
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  for (int i = 0; i < kMost; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < 2 * others && i < kMost; ++i, ++given, ++going) {
    MPI_Irecv(&in[i], 1, MPI_INT, 1 + i % others, 5, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(&given, 1, MPI_INT, 1 + i % others, 4, MPI_COMM_WORLD);
  }
  while (going > 0) {
    int done = 0;
    MPI_Waitsome(kMost, requests, &done, index, statuses);
    for (int i = 0; i < done; ++i) {
      const int to = statuses[i].MPI_SOURCE;
      if (given >= items) {
        --going;
        continue;
      }
      MPI_Irecv(&in[index[i]], 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[index[i]]);
      MPI_Send(&given, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
      ++given;
    }
  }
  const int end = -1;
  for (int i = 1; i < size; ++i) MPI_Send(&end, 1, MPI_INT, i, 4, MPI_COMM_WORLD);
}

static void rendezvous(int times) {
  int in = 0;
  double sum = 0, own = 1;
  for (int i = 0; i < times; ++i) {
    if (rank == i % size) work(1);
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
  if (strcmp(argv[1], "probes") == 0) probes(number);
  if (strcmp(argv[1], "search") == 0) search(number);
  if (strcmp(argv[1], "tests") == 0) tests(number);
  if (strcmp(argv[1], "overlap") == 0) overlap(number);
  if (strcmp(argv[1], "some") == 0) some(number);
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
