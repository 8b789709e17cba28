/* Accumulating values with their places.
 * live: ranks 1 2 3 4 8
 * Open MPI 4.1.4's own library gets these wrong (the padding in MPI_DOUBLE_INT) and writes beside its memory.
 * live: not real openmpi */
#include "check.h"

typedef struct {
  double value;
  int at;
} Pair;

static void pairs(void) {
  _Alignas(64) Pair memory[3];
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(Pair), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 3; ++i) {
    memory[i].value = -1;
    memory[i].at = -1;
  }
  MPI_Win_fence(0, win);
  Pair mine[3];
  for (int i = 0; i < 3; ++i) {
    mine[i].value = (check_rank * 3 + i) % check_size;
    mine[i].at = check_rank;
  }
  MPI_Accumulate(mine, 3, MPI_DOUBLE_INT, 0, 0, 3, MPI_DOUBLE_INT, MPI_MAXLOC, win);
  MPI_Win_fence(0, win);
  if (check_rank == 0) {
    for (int i = 0; i < 3; ++i) {
      double best = -1;
      int at = -1;
      for (int rank = 0; rank < check_size; ++rank) {
        if ((rank * 3 + i) % check_size > best) {
          best = (rank * 3 + i) % check_size;
          at = rank;
        }
      }
      CHECK(memory[i].value == best, "%g, expected %g", memory[i].value, best);
      CHECK_EQUAL(memory[i].at, at);
    }
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  pairs();
  return check_end();
}
