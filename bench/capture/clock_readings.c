/* Reads a clock again and again: prints what a reading takes in CPU time, in nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char** argv) {
  const int readings = 5000000;
  struct timespec now;
  MPI_Init(&argc, &argv);
  const clock_t begin = clock();
  for (int i = 0; i < readings; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%.1f\n", (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / readings);
  MPI_Finalize();
  return 0;
}
