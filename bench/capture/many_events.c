/* As many events as asked for, quickly: bench_many_events EVENTS (of each rank).
 * Rounds of 100: sends to nobody of changing sizes, with some computation, and
 * one exchange with the neighbours. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long events = argc > 1 ? atol(argv[1]) : 0;
  static char buffer[64];
  static volatile double sink = 1;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  for (long done = 0; done + 100 <= events; done += 100) {
    for (int i = 0; i < 99; ++i) {
      if (i % 10 == 0) sink = sink * 1.0000001;
      MPI_Send(buffer, i % 64, MPI_CHAR, MPI_PROC_NULL, i % 4, MPI_COMM_WORLD);
    }
    char in;
    MPI_Sendrecv(buffer, 1, MPI_CHAR, next, 5, &in, 1, MPI_CHAR, last, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
