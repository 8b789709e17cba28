/* For every message size in a range, by trying: does a standard send complete
 * before there is a receive for it, with the receiver outside MPI, and with the
 * receiver polling inside MPI? The ranks talk through shared memory meanwhile.
 *
 *   bench_thresholds FROM TO STEP
 *
 * Prints "bytes,outside,polling" with 1 for a send that completed. Run on 2
 * ranks of one host. */
#include "shared.h"

enum { kTag = 3, kNeverSent = 4 };

/* Places in the shared page, a cache line apart. */
enum { kTrying = 0, kDecided = 8, kReady = 16 };

/* How long each try waits, ns. A completion proves it; that none came may be an
 * interruption of the receiver, so there are longer tries. */
static const int64_t patience[] = {200000, 2000000, 20000000};
enum { kTries = sizeof patience / sizeof *patience };

static const MPI_Comm world = MPI_COMM_WORLD;
static _Atomic int64_t* page;
static int64_t turn; /* counts the tries; both ranks go through the same */

static void await(int place) {
  while (atomic_load(&page[place]) < turn) continue;
}
static void tell(int place) {
  atomic_store(&page[place], turn);
}

/* Rank 0: whether a send is complete though nobody receives it. */
static int completes(const char* data, int bytes, int64_t longest) {
  await(kReady);
  MPI_Request request;
  MPI_Isend(data, bytes, MPI_CHAR, 1, kTag, world, &request);
  int done = 0;
  const int64_t end = now() + longest;
  do MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  while (!done && now() < end);
  tell(kDecided);
  if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return done;
}

/* Rank 1: receives once rank 0 has decided. */
static void look_on(char* data, int bytes, int polling) {
  tell(kReady);
  if (polling) {
    int found = 0;
    while (atomic_load(&page[kDecided]) < turn)
      MPI_Iprobe(0, kNeverSent, world, &found, MPI_STATUS_IGNORE);
  } else {
    await(kDecided);
  }
  MPI_Recv(data, bytes, MPI_CHAR, 0, kTag, world, MPI_STATUS_IGNORE);
}

static int probe(int rank, char* data, int bytes, int polling) {
  int done = 0;
  for (int i = 0; i < kTries && !done; ++i) {
    ++turn;
    if (rank == 0)
      done = completes(data, bytes, patience[i]);
    else
      look_on(data, bytes, polling);
    MPI_Bcast(&done, 1, MPI_INT, 0, world);
  }
  return done;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  const long from = argc == 4 ? atol(argv[1]) : -1;
  const long to = argc == 4 ? atol(argv[2]) : -1;
  const long step = argc == 4 ? atol(argv[3]) : 0;
  if (size != 2 || from < 0 || to < from || step < 1) fail("needs 2 ranks, and FROM TO STEP");
  page = shared_page();
  char* data = calloc((size_t)to + 1, 1);
  for (long bytes = from; bytes <= to; bytes += step) {
    const int outside = probe(rank, data, (int)bytes, 0);
    const int polling = probe(rank, data, (int)bytes, 1);
    if (rank == 0) printf("%ld,%d,%d\n", bytes, outside, polling);
  }
  MPI_Finalize();
  return 0;
}
