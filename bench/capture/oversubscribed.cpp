// Ranks that wait for each other all the time, or compute unevenly:
//
//   bench_oversubscribed ring ROUNDS        each sends to the next, receives from the last
//   bench_oversubscribed allreduce ROUNDS
//   bench_oversubscribed compute ROUNDS     3 to 9 ms, different on each, then an allreduce
//
// Prints, on rank 0, the seconds between MPI_Init and MPI_Finalize, and the CPU seconds
// that all ranks spent computing; where they compute nothing, all that they spent.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const MPI_Comm world = MPI_COMM_WORLD;
int rank;
int size;

double cpu_seconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void ring() {
  int out = rank;
  int in = 0;
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  if (rank % 2 == 0) MPI_Send(&out, 1, MPI_INT, next, 0, world);
  MPI_Recv(&in, 1, MPI_INT, last, 0, world, MPI_STATUS_IGNORE);
  if (rank % 2 != 0) MPI_Send(&out, 1, MPI_INT, next, 0, world);
}

void allreduce() {
  double out = rank;
  double in = 0;
  MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, world);
}

double compute(int round) {
  const double begin = cpu_seconds();
  const double end = begin + 3e-3 * (1 + (rank + round) % 3);
  double now = begin;
  while (now < end) now = cpu_seconds();
  return now - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view kind = argv[1];
  const int rounds = std::atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Barrier(world);
  const double begin = MPI_Wtime();
  const double spent_before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  double computed = 0;
  for (int round = 0; round < rounds; ++round) {
    if (kind == "ring") {
      ring();
    } else {
      if (kind == "compute") computed += compute(round);
      allreduce();
    }
  }
  const double seconds = MPI_Wtime() - begin;
  if (kind != "compute") computed = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - spent_before;
  double all = 0;
  MPI_Reduce(&computed, &all, 1, MPI_DOUBLE, MPI_SUM, 0, world);
  if (rank == 0) std::printf("%.6f %.6f\n", seconds, all);
  MPI_Finalize();
}
