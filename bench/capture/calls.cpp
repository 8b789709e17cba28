// What MPI calls cost, seen from the program: run bare and under the capture
// library, the difference is the library's. Prints one line per kind of call:
// its name and the median over blocks of nanoseconds per call. Run on 2 ranks.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr int kBlocks = 200;
constexpr int kPerBlock = 100;

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Median over blocks of the time per call; `calls` MPI calls are made by one
// run of `body` on this rank.
template <class Body>
void measure(const char* name, int rank, int calls, Body body) {
  std::vector<double> blocks;
  for (int b = 0; b < kBlocks; ++b) {
    const double start = now_ns();
    for (int i = 0; i < kPerBlock; ++i) body();
    blocks.push_back((now_ns() - start) / kPerBlock / calls);
  }
  std::nth_element(blocks.begin(), blocks.begin() + kBlocks / 2, blocks.end());
  if (rank == 0) std::printf("%s %.1f\n", name, blocks[kBlocks / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  // With any argument: as programs whose threads call MPI.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  char out[8] = {};
  char in[8] = {};
  MPI_Barrier(MPI_COMM_WORLD);
  measure("comm_rank", rank, 1, [&] {
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
  });
  measure("send_to_null", rank, 1,
          [&] { MPI_Send(out, 8, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD); });
  MPI_Barrier(MPI_COMM_WORLD);
  measure("pingpong", rank, 2, [&] {
    if (rank == 0) {
      MPI_Send(out, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Recv(in, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD);
    }
  });
  measure("exchange", rank, 3, [&] {
    MPI_Request requests[2];
    MPI_Irecv(in, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  });
  measure("allreduce", rank, 1, [&] {
    int mine = rank;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  });
  MPI_Finalize();
  return 0;
}
