"""Programs that wait by looking again and again: they must not look as often as virtual time would let them."""

import re

import harness_live
from harness_live import harness

# Two ranks hand a large message to and fro; each has a second thread, which sleeps.
SLEEPER = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *rest(void *unused) { return pause(), unused; }
int main(int argc, char **argv) {
  enum { BYTES = 1 << 20 };
  int provided, rank;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, 0, rest, 0);
  char *data = malloc(BYTES);
  for (int i = 0; i < 6; ++i)
    if (i % 2 == rank) MPI_Send(data, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    else MPI_Recv(data, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


class Polling(harness_live.TestCase):
    def operations(self, command):
        """How many the engine had to take up."""
        result = self.ok(harness.run(self.live_command(2, command, compute="none", options=["--stats"])))
        return int(re.search(r"replayed (\d+) operations", result.out + result.err).group(1))

    def test_other_thread_sleeps(self):
        program = self.compile(SLEEPER)
        self.assertLess(self.operations([program, "multiple"]), 50 * self.operations([program]))


if __name__ == "__main__":
    harness.main()
