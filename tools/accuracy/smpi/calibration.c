/* calibration TARGET PASSES: what SimGrid's calibration program measures for SMPI, by two ranks.

   Writes "function,bytes,start,seconds" for each call that rank 0 timed, as that program does
   (github.com/simgrid/platform-calibration; this is our own code, from its published data and their
   description): sizes from 1 B to 4 MiB, even in their logarithm and shuffled; of each

   PingPong  MPI_Send, then MPI_Recv of the answer; their sum is the round trip
   Isend     MPI_Isend alone; the answer is waited for before the next
   Recv      MPI_Recv of a message that came before, if it needs no receive to come
   Wtime, Iprobe, Test  the call alone, in vain */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSizes = 160, kCalls = 10, kMost = 4 << 20 };

static const MPI_Comm world = MPI_COMM_WORLD;
static char* data;
static FILE* target;

static void note(const char* what, int bytes, double start, double end) {
  if (target) fprintf(target, "%s,%d,%.9f,%.9e\n", what, bytes, start, end - start);
}

static void receive(int bytes, int from) {
  MPI_Recv(data, bytes, MPI_CHAR, from, 0, world, MPI_STATUS_IGNORE);
}

static void pass_time(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

/* What a round trip took, for Recv to know how long a message is under way. */
static double pingpong(int rank, int bytes) {
  const double start = MPI_Wtime();
  if (rank == 1) receive(bytes, 0);
  MPI_Send(data, bytes, MPI_CHAR, 1 - rank, 0, world);
  const double sent = MPI_Wtime();
  if (rank == 1) return 0;
  receive(bytes, 1);
  const double end = MPI_Wtime();
  note("PingPong_Send", bytes, start, sent);
  note("PingPong_Recv", bytes, sent, end);
  return end - start;
}

static void isend(int rank, int bytes) {
  if (rank == 1) {
    receive(bytes, 0);
    MPI_Send(data, 1, MPI_CHAR, 0, 0, world);
    return;
  }
  MPI_Request request;
  const double start = MPI_Wtime();
  MPI_Isend(data, bytes, MPI_CHAR, 1, 0, world, &request);
  note("Isend", bytes, start, MPI_Wtime());
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  receive(1, 1);
}

static void recv_late(int rank, int bytes, double under_way) {
  if (rank == 1) {
    receive(1, 0);
    MPI_Send(data, bytes, MPI_CHAR, 0, 0, world);
    return;
  }
  MPI_Send(data, 1, MPI_CHAR, 1, 0, world);
  pass_time(2 * under_way);
  const double start = MPI_Wtime();
  receive(bytes, 1);
  note("Recv", bytes, start, MPI_Wtime());
}

/* Of many calls: each is shorter than the clock's own reading. */
static void note_each(const char* what, double start, int calls) {
  note(what, 1, start, start + (MPI_Wtime() - start) / calls);
}

static void calls_in_vain(int rank) {
  if (rank == 1) {
    receive(1, 0);
    MPI_Send(data, 1, MPI_CHAR, 0, 0, world);
    return;
  }
  const int calls = 100000;
  int there;
  MPI_Request request;
  double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Wtime();
  note_each("Wtime", start, calls);
  start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Iprobe(1, 0, world, &there, MPI_STATUS_IGNORE);
  note_each("Iprobe", start, calls);
  MPI_Irecv(data, 1, MPI_CHAR, 1, 0, world, &request);
  start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
  note_each("Test", start, calls);
  MPI_Send(data, 1, MPI_CHAR, 1, 0, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static unsigned long state = 20161;

static int below(int limit) {
  state = (6364136223846793005ul * state + 1442695040888963407ul) & 0xffffffffffffffful;
  return (int)((state >> 28) % (unsigned long)limit);
}

/* From 1 to kMost, each by the same factor more than the one before, in a random order. */
static void draw_sizes(int sizes[kSizes]) {
  double size = 1;
  for (int i = 0; i < kSizes; ++i) {
    sizes[i] = (int)size;
    size = size < 40 ? size + 1 : size * 1.10113; /* the last is kMost */
    if (size > kMost) size = kMost;
  }
  for (int i = kSizes - 1; i > 0; --i) {
    const int other = below(i + 1), size_here = sizes[i];
    sizes[i] = sizes[other];
    sizes[other] = size_here;
  }
}

int main(int argc, char** argv) {
  int rank, ranks, sizes[kSizes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  data = calloc(kMost, 1);
  if (argc != 3 || ranks < 2 || !data || (rank == 0 && !(target = fopen(argv[1], "w")))) {
    fprintf(stderr, "usage: calibration TARGET PASSES, with two ranks\n");
    MPI_Abort(world, 2);
  }
  draw_sizes(sizes);
  const int passes = atoi(argv[2]);
  for (int pass = 0; rank < 2 && pass < passes; ++pass)
    for (int i = 0; i < kSizes; ++i) {
      double under_way = 0;
      for (int call = 0; call < kCalls; ++call) under_way = pingpong(rank, sizes[i]);
      for (int call = 0; call < kCalls; ++call) isend(rank, sizes[i]);
      for (int call = 0; call < kCalls; ++call) recv_late(rank, sizes[i], under_way);
    }
  if (rank < 2) calls_in_vain(rank);
  if (target && fclose(target) != 0) MPI_Abort(world, 1);
  MPI_Finalize();
  free(data);
  return 0;
}
