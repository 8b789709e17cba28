"""record --clock wall on hosts whose clocks differ. Time namespaces stand in for hosts: each rank's
process reads a monotonic clock of its own."""

import json
import unittest

import harness

# Seconds by rank.
AHEAD = {0: 0, 1: 5000, 2: 70000, 3: -300}

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv) {
  int rank, size, i, token = 0;
  struct timespec now;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("rank %d clock %ld\n", rank, (long)now.tv_sec);
  fflush(stdout);
  for (i = 0; i < 100; i++) {
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) return 1; /* dies without MPI_Finalize */
  MPI_Finalize();
  return 0;
}
"""


def can_shift_clocks():
    return harness.run(["unshare", "-T", "--monotonic", "100", "true"]).status == 0


class Clocks(harness.TestCase):
    def setUp(self):
        super().setUp()
        source = self.write("ring.c", PROGRAM)
        self.program = self.directory / "ring"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", self.program]))

    def shifted(self):
        cases = "".join(f"  {rank}) exec unshare -T --monotonic {shift} {self.program} \"$@\";;\n"
                        for rank, shift in AHEAD.items() if shift != 0)
        script = self.write("shifted", f"#!/bin/sh\ncase ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in\n{cases}esac\n"
                                       f"exec {self.program} \"$@\"\n")
        script.chmod(0o755)
        return script

    def record_wall(self, program, *arguments, status=0):
        trace = self.directory / "wall.ftr"
        self.result = self.foretrace("record", "-n", 4, "--clock", "wall", "--mpi", harness.mpi, "-o", trace, "--",
                                     program, *arguments, status=status)
        return trace

    def report(self, trace):
        return json.loads(self.foretrace("report", trace, "--json").out)

    def check_order(self, trace):
        """Messages are received before they were sent by no more than the clocks' errors, and those that
        are at all are counted."""
        report = self.report(trace)
        self.assertEqual(report["messages"], 400)
        # Uncorrected, the clocks would be 300 s apart at least.
        self.assertLess(report["time"], 250)
        error = 2 * round(report["clocks"]["error"] * 1e12)  # two hosts, ps
        ranks = [[fields for kind, _, fields in rank if kind in ("send", "recv")] for rank in self.events(trace)]
        early = 0
        for step in range(100):
            # Rank 0 sends, then receives; the others receive, then send.
            sends = [ranks[0][2 * step]] + [ranks[rank][2 * step + 1] for rank in (1, 2, 3)]
            receives = [ranks[rank][2 * step] for rank in (1, 2, 3)] + [ranks[0][2 * step + 1]]
            for send, receive in zip(sends, receives):
                self.assertGreaterEqual(receive["leave"], send["enter"] - error, step)
                early += receive["leave"] < send["enter"]
        self.assertEqual(report["clock_violations"], early)
        return report

    def test_one_host(self):
        report = self.check_order(self.record_wall(self.program))
        self.assertEqual(report["clock_violations"], 0)
        self.assertEqual(report["clocks"], {"hosts": 1, "error": 0.0})
        self.assertNotIn("hosts", self.result.err)

    @unittest.skipUnless(can_shift_clocks(), "time namespaces are not allowed here")
    def test_several_hosts(self):
        trace = self.record_wall(self.shifted())
        clocks = {int(line.split()[1]): int(line.split()[3]) for line in self.result.out.splitlines()}
        for rank, shift in AHEAD.items():
            self.assertAlmostEqual(clocks[rank] - clocks[0], shift, delta=200, msg="the clocks were not shifted")
        report = self.check_order(trace)
        self.assertEqual(report["clocks"]["hosts"], 4)
        self.assertGreater(report["clocks"]["error"], 0)
        self.assertRegex(self.result.err, r"foretrace: 4 hosts, whose clocks agree with rank 0's to within \S+ us\n")
        self.assertRegex(self.foretrace("report", trace).out,
                         r"^note: 4 hosts, whose clocks agree with rank 0's to within ")

    @unittest.skipUnless(can_shift_clocks(), "time namespaces are not allowed here")
    def test_a_run_that_dies_has_the_offsets_of_its_start(self):
        trace = self.directory / "wall.ftr"
        result = harness.foretrace("record", "-n", 4, "--clock", "wall", "--mpi", harness.mpi, "-o", trace, "--",
                                   self.shifted(), "die")
        self.assertNotEqual(result.status, 0)
        report = self.check_order(trace)
        self.assertFalse(report["complete"])
        self.assertEqual(report["clocks"]["hosts"], 4)

    def test_other_clocks_know_of_no_hosts(self):
        report = self.report(self.record(4, [self.program]))
        self.assertNotIn("clocks", report)
        self.assertNotIn("clock_violations", report)


if __name__ == "__main__":
    harness.main()
