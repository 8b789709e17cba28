/* Executes two kernels again and again, one of them in two sizes, and a third
 * that makes a call and so cannot be left out. Prints how often each was
 * executed.
 */
#include <mpi.h>
#include <stdio.h>

#include "foretrace.h"

static volatile double sink;

static void work(int turns) {
  for (int i = 0; i < turns * 100; ++i) sink += i;
  FORETRACE_COMPUTE(turns);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, relaxed = 0, summed = 0, talked = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 6; ++round) {
    const int size = 10 + round % 2;
    if (FORETRACE_KERNEL_RUNS("relax", size)) {
      work(size + rank);
      ++relaxed;
      FORETRACE_KERNEL_END("relax");
    }
    if (FORETRACE_KERNEL_RUNS("sum", 0)) {
      work(3);
      ++summed;
      FORETRACE_KERNEL_END("sum");
    }
    if (FORETRACE_KERNEL_RUNS("talk", 0)) {
      MPI_Barrier(MPI_COMM_WORLD);
      ++talked;
      FORETRACE_KERNEL_END("talk");
    }
  }
  MPI_Finalize();
  if (rank == 0) printf("relaxed %d, summed %d, talked %d\n", relaxed, summed, talked);
  return 0;
}
