/* Prints how many bytes of fresh memory are not zero, before and after MPI_Init: what others left in
   the heap. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* Through a pointer, so that the compiler does not know that the memory was never written. */
static void* (*volatile take)(size_t) = malloc;

static long dirt(void) {
  static void* kept[20000];
  long dirty = 0;
  int n = 0;
  for (int round = 0; round < 40; ++round)
    for (size_t size = 24; size <= 8192; size += size / 4) {
      unsigned char* block = take(size);
      kept[n++] = block;
      for (size_t i = 0; i < size; ++i) dirty += block[i] != 0;
    }
  while (n > 0) free(kept[--n]);
  return dirty;
}
int main(int argc, char** argv) {
  long before = dirt();
  MPI_Init(&argc, &argv);
  long after = dirt();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%ld %ld\n", before, after);
  MPI_Finalize();
  return 0;
}
