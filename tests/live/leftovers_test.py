"""What a program leaves behind or does beside MPI: communicators that are not freed, or made without end;
ranks that wait for each other by other means than messages; programs that are none for the MPI at hand."""

import resource

import harness_live
from harness_live import harness

LEAVES = r"""
#include <mpi.h>
int main(void) {
  int rank;
  MPI_Comm one, other, part;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
  MPI_Comm_free(&one);
  if (rank == 0) MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
"""

FREED = r"""
#include <mpi.h>
int main(void) {
  int rank, size, from = 0;
  MPI_Request posted, again, received;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &posted);
  MPI_Request_free(&posted);
  MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send_init(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &again);
  MPI_Start(&again);
  MPI_Request_free(&again);
  MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(&from, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &received);
  MPI_Cancel(&received);
  MPI_Request_free(&received);
  if (rank == 1) MPI_Irecv(&from, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &posted);
  MPI_Finalize();
  return 0;
}
"""

AGAIN = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = atoi(argv[1]); i > 0; --i) {
    MPI_Comm copy, half;
    int rank, sum, one = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(copy, &rank);
    MPI_Comm_split(copy, rank % 2, rank, &half);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    if (sum != 4) MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
  return 0;
}
"""

NODES = r"""
#include <mpi.h>
#include <stdio.h>
int main(void) {
  int world, rank, size;
  MPI_Comm node;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  printf("rank %d is %d of %d\n", world, rank, size);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
"""

BESIDE = r"""
#include <mpi.h>
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) close(open(argv[1], O_CREAT | O_WRONLY, 0600));
  while (access(argv[1], F_OK) != 0) usleep(2000);
  MPI_Finalize();
  return 0;
}
"""

NO_MPI = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  if (argc > 2) MPI_Init(&argc, &argv);
  return atoi(argv[1]);
}
"""


class Leftovers(harness_live.TestCase):
    def run_live(self, ranks, command, status=0, options=()):
        return self.ok(harness.run(self.live_command(ranks, command, compute="none", options=options),
                                   limit=60, cwd=self.directory), status)

    def test_communicators_that_were_not_freed_are_told(self):
        """Two on ranks 1 to 3, of which the first that is left was made in line 9; one on rank 0."""
        result = self.run_live(4, [self.compile(LEAVES)])
        self.assertEqual(result.err, "foretrace: 2 communicators were not freed on 4 ranks, "
                                     "the first made at program.c:9\n")

    def test_none_is_told_where_all_are_freed(self):
        self.assertEqual(self.run_live(8, [self.compile(AGAIN), "3"]).err, "")

    def test_requests_that_were_freed_are_not_told(self):
        """Rank 1 leaves a receive, which is; freed sends and receives are given back."""
        result = self.run_live(3, [self.compile(FREED)])
        self.assertEqual(result.err, "foretrace: rank 1 left 1 request without MPI_Wait or MPI_Test\n")

    def test_communicators_without_end_take_no_memory(self):
        """Less than 500 bytes for two communicators; it was 2,800 with their members and their state."""
        program = self.compile(AGAIN)

        def peak(rounds):
            self.run_live(8, [program, rounds])
            return 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

        few = peak(10)
        self.assertLess(peak(10000) - few, 10000 * 500)

    def test_ranks_of_a_node_share_memory(self):
        program = self.compile(NODES)

        def said(*options):
            return sorted(harness_live.said(self.run_live(4, [program], options=options)))

        one = [f"rank {rank} is {rank} of 4" for rank in range(4)]
        self.assertEqual(said(), one)
        self.assertEqual(said("--network", "hops", "--topology", "ring:4"),
                         [f"rank {rank} is 0 of 1" for rank in range(4)])
        nodes = ["--network", "hops", "--topology", "ring:2?ranks_per_node=2"]
        self.assertEqual(said(*nodes), ["rank 0 is 0 of 2", "rank 1 is 1 of 2",
                                        "rank 2 is 0 of 2", "rank 3 is 1 of 2"])
        self.assertEqual(said(*nodes, "--placement", "round-robin"),
                         ["rank 0 is 0 of 2", "rank 1 is 0 of 2", "rank 2 is 1 of 2", "rank 3 is 1 of 2"])

    def test_ranks_that_wait_for_a_file(self):
        """Ranks on all cores wait for what one will do that has none."""
        ranks = len(harness.os.sched_getaffinity(0)) + 2
        self.run_live(ranks, [self.compile(BESIDE), self.directory / "flag"])

    def test_no_rank_comes_to_mpi_init(self):
        program = self.compile(NO_MPI)
        for status, expected in ((0, 1), (3, 3)):
            result = self.run_live(3, [program, status], expected)
            self.assertEqual(harness_live.said(result), result.out.splitlines(), "a prediction")
            self.assertEqual(result.err, "foretrace: no rank came to MPI_Init\n" if status == 0 else
                             f"foretrace: the ranks ended with status {status} before MPI_Init\n")
        result = self.run_live(3, [program, 0], 1, ["--mpi", harness.mpi])
        self.assertEqual(result.err, "foretrace: no rank came to MPI_Init; does the program use the MPI that --mpi "
                                     "names?\n")

    def test_the_wrong_mpi(self):
        other = "openmpi" if harness.mpi == "mpich" else "mpich"
        result = self.run_live(2, [self.compile(NODES)], 2, ["--mpi", other])
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertIn(f"was built for {harness.mpi}, not for {other}", result.err)


if __name__ == "__main__":
    harness.main()
