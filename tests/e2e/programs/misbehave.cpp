// Programs that end badly, block, poll the clock or print, one behaviour a run.
//
//   misbehave BEHAVIOUR [NUMBER]
//
// Ranks first exchange a barrier, so that every trace holds something before
// the end comes; rank 1 is the one that misbehaves.
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank;
const MPI_Comm world = MPI_COMM_WORLD;

void nap(double seconds) {
  timespec span{static_cast<time_t>(seconds), 0};
  span.tv_nsec = static_cast<long>((seconds - static_cast<double>(span.tv_sec)) * 1e9);
  ::nanosleep(&span, nullptr);
}

// Both ranks of a pair send before they receive.
void head_on(int bytes) {
  if (rank > 1) return;
  std::vector<char> out(static_cast<std::size_t>(bytes)), in(out.size());
  MPI_Send(out.data(), bytes, MPI_BYTE, 1 - rank, 5 + rank, world);
  MPI_Recv(in.data(), bytes, MPI_BYTE, 1 - rank, 6 - rank, world, MPI_STATUS_IGNORE);
}

// Rank 0 sends before a barrier, rank 1 receives after it.
void across_barrier(int bytes) {
  std::vector<char> data(static_cast<std::size_t>(bytes));
  if (rank == 0) MPI_Send(data.data(), bytes, MPI_BYTE, 1, 5, world);
  MPI_Barrier(world);
  if (rank == 1) MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 5, world, MPI_STATUS_IGNORE);
}

// Nobody blocks for ever here, but rank 2 takes its time. Rank 0 waits for
// rank 1 first, then for rank 2; rank 1 waits for rank 0 all the while.
void patience(bool any) {
  int data[2] = {};
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&data[0], 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Irecv(&data[1], 1, MPI_INT, 2, 1, world, &requests[1]);
    if (any) {
      int index = -1;
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      MPI_Send(data, 1, MPI_INT, 1, 2, world);
      MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Send(data, 1, MPI_INT, 1, 2, world);
    }
  } else if (rank == 1) {
    nap(0.3);
    if (!any) MPI_Send(data, 1, MPI_INT, 0, 1, world);
    MPI_Recv(data, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
    if (any) MPI_Send(data, 1, MPI_INT, 0, 1, world);
  } else {
    nap(4.5);
    MPI_Send(data, 1, MPI_INT, 0, 1, world);
  }
}

void poll_clock() {
  const double start = MPI_Wtime();
  long polls = 0;
  while (MPI_Wtime() - start < 1e-3) ++polls;
  const double end = MPI_Wtime();
  if (rank == 0)
    std::printf("polled %s, %.9f s\n", polls > 0 ? "several times" : "once", end - start);
}

// The clock is read a known number of times.
void read_clock(int times) {
  for (int i = 0; i < times; ++i) MPI_Wtime();
  MPI_Barrier(world);
  MPI_Wtime();
}

// Rank 0 waits for rank 1, which sleeps; says how often it went to sleep itself.
void wait_long() {
  int data = 0;
  rusage before;
  rusage after;
  if (rank == 1) {
    nap(0.3);
    MPI_Send(&data, 1, MPI_INT, 0, 1, world);
  } else if (rank == 0) {
    ::getrusage(RUSAGE_SELF, &before);
    MPI_Recv(&data, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
    ::getrusage(RUSAGE_SELF, &after);
    std::printf("slept %s\n", after.ru_nvcsw - before.ru_nvcsw >= 20 ? "often" : "seldom");
  }
}

// Rank 1 goes on when it knows that the others are past the barrier: whoever notices its death
// kills them wherever they are.
void leave_barrier_behind() {
  int ranks = 0;
  MPI_Comm_size(world, &ranks);
  int word = 0;
  if (rank != 1) MPI_Send(&word, 1, MPI_INT, 1, 3, world);
  for (int other = 0; rank == 1 && other < ranks; ++other)
    if (other != 1) MPI_Recv(&word, 1, MPI_INT, other, 3, world, MPI_STATUS_IGNORE);
}

void print(const char* where) {
  std::printf("rank %d says hello to stdout %s\n", rank, where);
  std::fprintf(stderr, "rank %d says hello to stderr %s\n", rank, where);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string behaviour = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (behaviour == "exit_before_init") return number;
  if (behaviour == "print") print("before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Barrier(world);
  if (behaviour == "print") print("between");
  if (behaviour == "head_on") head_on(number);
  if (behaviour == "across_barrier") across_barrier(number);
  if (behaviour == "patient_waitall") patience(false);
  if (behaviour == "patient_waitany") patience(true);
  if (behaviour == "poll_clock") poll_clock();
  if (behaviour == "read_clock") read_clock(number);
  if (behaviour == "wait_long") wait_long();
  const bool dies =
      behaviour == "segv" || behaviour == "kill" || behaviour == "exit" || behaviour == "abort";
  if (dies) leave_barrier_behind();
  if (rank == 1) {
    if (behaviour == "segv") ::raise(SIGSEGV);
    if (behaviour == "kill") ::raise(SIGKILL);
    if (behaviour == "exit") ::_exit(number);
    if (behaviour == "abort") MPI_Abort(world, number);
  }
  if (dies) MPI_Barrier(world);
  MPI_Finalize();
  if (behaviour == "print") print("after MPI_Finalize");
  return behaviour == "status" ? number : 0;
}
