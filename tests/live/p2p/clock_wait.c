/* Waiting for the clock, as programs do that want to be late. live: ranks 1 2
 * predict's clock stands still between calls if computation takes no time (--compute none).
 * live: not under predict */
#include "check.h"

static int looks;

static double wait_for(double seconds) {
  const double start = MPI_Wtime();
  double now = start;
  while (now - start < seconds) {
    const double before = now;
    now = MPI_Wtime();
    ++looks;
    CHECK(now >= before, "%g after %g", now, before);
  }
  return now - start;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const double waits[] = {1e-5, 5};
  for (int i = 0; i < 2; ++i) {
    const double waited = wait_for(waits[i]);
    /* A real machine may let the rank wait for a core at any time. */
    CHECK(waited < waits[i] * 1.1 + 1e-4 || getenv("TESTS_LIVE_REAL"), "%g seconds instead of %g",
          waited, waits[i]);
  }
  /* After very many each stands for more and more: five seconds are 760 million of 6.6 ns each. */
  CHECK(looks < 2000000 || getenv("TESTS_LIVE_REAL"), "%d looks", looks);
  /* Who waits is waited for. */
  const double start = MPI_Wtime();
  if (check_rank == 0) wait_for(1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Wtime() - start >= 1 || check_rank > 0, "");
  return check_end();
}
