/* What a call takes after computation: docs/accuracy.md, Programs that somebody else wrote.

     mpicc.openmpi -O2 bench/accuracy/cold_calls.c -o cold_calls && mpirun.openmpi -n 2 ./cold_calls

   Two ranks write the data, sweep over some memory, wait for the same moment and make the call. Its
   time is that from this moment until the last of both is back, in microseconds: the middle of those
   before which both were in time. Those during which a cache line took up to 110 ns from core to
   core, then those during which it took longer; "-" where there are fewer than 20. */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 400, LARGEST = 16000, MOST_KIB = 4096, ROUND_TRIPS = 25, FEW = 20 };

static const int kBytes[] = {8, 1280, 4000, LARGEST};
static const int kKib[] = {0, 16, 64, 256, 1024, MOST_KIB};
static const char* const kCalls[] = {"MPI_Sendrecv", "MPI_Bcast", "MPI_Allreduce", "MPI_Send"};
enum { SIZES = 4, SWEEPS = 6, CALLS = 4 };

static int rank;
static atomic_long* there;
static double *from, *to;
static char out[LARGEST], in[LARGEST];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Memory of both ranks, whose name goes at once. */
static void share_memory(void) {
  char name[64];
  if (rank == 0) snprintf(name, sizeof name, "/dev/shm/cold_calls-%d", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int file = open(name, O_RDWR);
  there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (there == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name);
}

static double time_line(void) {
  static long count;
  atomic_long* const back = there + 16;
  const double start = now();
  for (int i = 0; i < ROUND_TRIPS; ++i) {
    ++count;
    if (rank == 0) atomic_store(there, count);
    while (atomic_load(rank == 0 ? back : there) != count) {
    }
    if (rank != 0) atomic_store(back, count);
  }
  return (now() - start) / (2 * ROUND_TRIPS);
}

static void sweep(size_t doubles) {
  for (size_t i = 1; i + 1 < doubles; ++i)
    to[i] = 0.25 * (from[i - 1] + from[i + 1]) + 0.5 * from[i];
  double* const other = to;
  to = from;
  from = other;
}

static void call(int which, int bytes) {
  const int other = 1 - rank;
  if (which == 0)
    MPI_Sendrecv(out, bytes, MPI_BYTE, other, 0, in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  else if (which == 1)
    MPI_Bcast(rank == 0 ? out : in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (which == 2)
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (rank == 0)
    MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void tell(double* times, int count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  if (count < FEW)
    printf("%7s", "-");
  else
    printf("%7.2f", 1e6 * times[count / 2]);
}

static void measure(int which, int bytes, int kib) {
  double near[TIMES], far[TIMES];
  int near_count = 0, far_count = 0;
  for (int i = 0; i < TIMES; ++i) {
    double start = now();
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    start += 10e-6 + 0.2e-6 * kib;
    memset(out, i, (size_t)bytes);
    sweep((size_t)kib * 1024 / (2 * sizeof *from));
    int in_time = now() < start;
    while (now() < start) {
    }
    call(which, bytes);
    double took = now() - start;
    const double line = time_line();
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &in_time, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!in_time) continue;
    if (line < 110e-9)
      near[near_count++] = took;
    else
      far[far_count++] = took;
  }
  if (rank != 0) return;
  tell(near, near_count);
  tell(far, far_count);
}

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  share_memory();
  from = calloc(MOST_KIB, 1024);
  to = calloc(MOST_KIB, 1024);
  if (!from || !to) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) {
    printf("%-21s", "KiB swept");
    for (int k = 0; k < SWEEPS; ++k) printf("%7d%7s", kKib[k], "");
    printf("\n");
  }
  for (int which = 0; which < CALLS; ++which)
    for (int size = 0; size < SIZES; ++size) {
      if (rank == 0) printf("%-13s%6d B", kCalls[which], kBytes[size]);
      for (int k = 0; k < SWEEPS; ++k) measure(which, kBytes[size], kKib[k]);
      if (rank == 0) printf("\n");
    }
  free(from);
  free(to);
  MPI_Finalize();
  return 0;
}
