/* Programs for tests that kill them, fill disks, or want much of something.
 *
 *   faults ring COUNTERS      for ever: messages around a ring, posted and blocking, and a sum;
 *                             the file COUNTERS, which outlives the ranks, holds how many calls
 *                             have returned, a 64-bit number for each rank
 *   faults many_comms N       makes and frees N communicators, one after the other
 *   faults many_requests N    has N sends and N receives under way at once, twice, then a
 *                             quarter of that, 16 times
 *   faults many_tags N        N messages, no two of which have the same tag
 *   faults calls N [KIB]      N rounds of calls whose sizes differ; no file may grow beyond so
 *                             many KiB meanwhile (and the signal for that kills who lets it)
 *
 * The last four print what they computed, and on standard error how much memory (KiB) rank 0 took
 * for the second half of its rounds.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;
static long digest;
static volatile uint64_t* returned;

static void ring(const char* path) {
  const size_t bytes = sizeof(uint64_t) * (size_t)size;
  const int fd = open(path, O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  uint64_t* counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (counters == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  returned = counters + rank;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0;; ++i) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out = i, in = 0, sum = 0;
    MPI_Irecv(&in, 1, MPI_INT, left, i & 1023, MPI_COMM_WORLD, &requests[0]);
    ++*returned;
    MPI_Isend(&out, 1, MPI_INT, right, i & 1023, MPI_COMM_WORLD, &requests[1]);
    ++*returned;
    MPI_Waitall(2, requests, statuses);
    ++*returned;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 5, &in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    ++*returned;
    if (i % 8 != 0) continue;
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ++*returned;
  }
}

static long memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void many_comms(int i) {
  MPI_Comm comm;
  int sum = 0, one = i & 1;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  digest += sum;
}

static void many_requests(int count) {
  MPI_Request* requests = malloc(sizeof *requests * 2 * (size_t)count);
  MPI_Status* statuses = malloc(sizeof *statuses * 2 * (size_t)count);
  int* in = calloc((size_t)count, sizeof *in);
  int* out = calloc((size_t)count, sizeof *out);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < count; ++i)
    MPI_Irecv(&in[i], 1, MPI_INT, left, i & 1023, MPI_COMM_WORLD, &requests[i]);
  // No message comes before its receive, and all are under way at once: every run takes as much.
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    out[i] = rank + i;
    MPI_Isend(&out[i], 1, MPI_INT, right, i & 1023, MPI_COMM_WORLD, &requests[count + i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(2 * count, requests, statuses);
  for (int i = 0; i < count; ++i) digest += in[i];
  free(requests);
  free(statuses);
  free(in);
  free(out);
}

static void many_tags(int i) {
  int in = 0;
  MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  digest += in;
}

static void calls(int i) {
  static char data[4096];
  const int bytes = (i * 7) % 4096, tag = i % 1024, right = (rank + 1) % size,
            left = (rank + size - 1) % size;
  data[i % 4096] = (char)i;
  MPI_Sendrecv_replace(data, bytes, MPI_BYTE, right, tag, left, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  digest += data[(i * 5) % 4096];
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? atoi(argv[2]) : 0;
  long half = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 3) {
    const struct rlimit limit = {(rlim_t)atoi(argv[3]) * 1024, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (strcmp(what, "ring") == 0) ring(argv[2]);
  if (strcmp(what, "many_requests") == 0) {
    // Where messages wait for their receives, their number differs from round to round: the large
    // rounds have made room for all that can wait in a small one before memory is looked at.
    for (int i = 0; i < 2; ++i) many_requests(rounds);
    for (int i = 0; i < 16; ++i) {
      if (i == 4) half = memory();
      many_requests(rounds / 4);
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 2) half = memory();
      if (strcmp(what, "many_comms") == 0) many_comms(i);
      if (strcmp(what, "many_tags") == 0) many_tags(i);
      if (strcmp(what, "calls") == 0) calls(i);
    }
  }
  MPI_Allreduce(&digest, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    fprintf(stderr, "second half: %ld KiB\n", memory() - half);
    printf("faults: digest=%ld\n", all);
  }
  MPI_Finalize();
  return 0;
}
