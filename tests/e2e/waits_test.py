"""Who waits for whom: in a run by the wall clock, and in the same program's prediction."""

import json

import harness

# Rank 1 is late with a message, rank 0 with a receive, rank 2 in a barrier; 50 ms each. The
# lines are named below.
PROGRAM = r"""
#include <mpi.h>
#include <unistd.h>
#include "foretrace.h"
static void sleep50(void) { FORETRACE_COMPUTE(50000); usleep(50000); }
int main(int argc, char **argv) {
  int rank, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) sleep50();
  if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /*recv*/
  if (rank == 0) sleep50();
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Ssend(&token, 1, MPI_INT, 0, 8, MPI_COMM_WORLD); /*ssend*/
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) sleep50();
  MPI_Barrier(MPI_COMM_WORLD); /*barrier*/
  MPI_Finalize();
  return 0;
}
"""
MACHINE = """
[machine]
name = "one microsecond"
[compute]
step = 1e-6
[loggps]
S = 1000
"""


def line_of(word):
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if f"/*{word}*/" in line)


class Waits(harness.TestCase):
    def setUp(self):
        super().setUp()
        source = self.write("waits.c", PROGRAM)
        self.program = self.directory / "waits"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", f"-I{harness.SOURCE}/include", source,
                             "-o", self.program]))

    def check(self, trace):
        report = json.loads(self.foretrace("report", trace, "--json").out)
        found = {(row["rank"], row["for"], row["place"]): row["late"] for row in report["waits_for"]}
        for rank, partner, word in ((0, 1, "recv"), (1, 0, "ssend"), (0, 2, "barrier"), (1, 2, "barrier")):
            # Others may have kept this machine busy; the sleep is 50 ms at least.
            late = found.get((rank, partner, f"waits.c:{line_of(word)}"), 0)
            self.assertGreater(late, 0.025, f"rank {rank} in {word}: {report['waits_for']}")
        self.assertGreater(report["wait"], 0.1)
        self.assertGreater(report["waits"]["MPI_Barrier"], 0.05)
        self.assertGreater(report["per_rank"][2]["others_wait"], 0.05)
        last = {row["place"]: row["last"] for row in report["collectives"]}
        self.assertEqual(last[f"waits.c:{line_of('barrier')}"], 2)
        return report

    def test_of_a_measured_run(self):
        trace = self.directory / "wall.ftr"
        self.foretrace("record", "-n", 3, "--clock", "wall", "-o", trace, "--", self.program)
        self.check(trace)
        text = self.foretrace("report", trace).out
        self.assertIn("Who waits for whom", text)
        self.assertIn(f"MPI_Recv waits.c:{line_of('recv')}", text)
        self.assertNotIn("wait time    0 s", text)
        picture = self.foretrace("timeline", trace, "--width", "100").out
        self.assertIn(". waiting", picture)
        compared = json.loads(self.foretrace("compare", trace, trace, "--json").out)
        self.assertGreater(compared["wait"]["t1"], 0.1)

    def test_of_a_prediction(self):
        machine = self.write("m.toml", MACHINE)
        report = self.check(self.predict(3, [self.program], machine=machine))
        # From barrier to barrier rank 2 computes 50 ms, ranks 0 and 1 nothing.
        worst = report["computation"][0]
        self.assertEqual((worst["slowest"], worst["ranks"], worst["times"]), (2, 3, 1))
        self.assertEqual(worst["before"], {"function": "MPI_Barrier", "place": f"waits.c:{line_of('barrier')}"})
        self.assertAlmostEqual(worst["ratio"], 3, 9)
        self.assertAlmostEqual(worst["cost"], 0.05 * 2 / 3, 9)


if __name__ == "__main__":
    harness.main()
