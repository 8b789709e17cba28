"""Sends that the measured MPI ends only while their receiver is in a call: all three ways wait for that.

The machine: each post takes 10 us, and a message nothing more.
"""

import json

import harness

FUNCTION = """[[function]]
name = "{}"
[[function.regime]]
c = {}
"""
MACHINE = ('[machine]\nname = "attended"\ntime_unit = "us"\n[compute]\nstep = 1e-6\n[loggps]\nP = 257\n'
           + "".join(FUNCTION.format(name, 10) for name in ("send", "isend1", "irecv1"))
           + "".join(FUNCTION.format(name, 0) for name in ("recv", "isend2", "irecv2", "irecvoverlap", "isendoverlap")))
# Ten rounds; one rank computes 1 ms in each, the other one waits for its send.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include "foretrace.h"
int main(int argc, char** argv) {
  static char out[1000], in[1000];
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 10; ++round) {
    MPI_Request both[2];
    MPI_Irecv(in, 1000, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, atoi(argv[1]), MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &both[1]);
    if (round % 2 == rank) FORETRACE_COMPUTE(1000);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


class Attended(harness.TestCase):
    def results(self, size, *options):
        program = self.compile(PROGRAM)
        machine = ("--machine", self.write("machine.toml", MACHINE), "--compute", "annotated", *options)
        recorded = self.record(2, [program, size])
        yield "predict", self.foretrace("predict", "-n", 2, *machine, "-o", self.directory / "p.ftr", "--", program, size)
        yield "simulate", self.foretrace("simulate", *machine, "-o", self.directory / "s.ftr", recorded)
        yield "live", self.foretrace("simulate", "-n", 2, *machine, "-o", self.directory / "l.ftr", "--", program, size)

    def test_turns(self):
        # Each round takes two posts and the computation: who waits for its send does so until the other has computed.
        for way, result in self.results(257):
            with self.subTest(way=way):
                self.assertRegex(result.err + result.out, r"predicted time 0\.0102 s")

    def test_messages_that_end_by_themselves(self):
        # Rank 1 goes on while rank 0 computes, and the other way around.
        for way, result in self.results(256):
            with self.subTest(way=way):
                self.assertRegex(result.err + result.out, r"predicted time 0\.0052 s")

    def test_always(self):
        for way, result in self.results(257, "--progress", "always"):
            with self.subTest(way=way):
                self.assertRegex(result.err + result.out, r"predicted time 0\.0052 s")

    def test_bounds(self):
        # What waits for calls of its receiver does so on an ideal network, too.
        machine = ("--machine", self.write("machine.toml", MACHINE), "--compute", "annotated")
        recorded = self.record(2, [self.compile(PROGRAM), 257])
        bounds = json.loads(self.foretrace("explain", recorded, *machine, "--json").out)["bounds"]
        self.assertEqual((round(bounds["ideal_network"], 9), bounds["moving_always"]), (0.01, 0.0052))


if __name__ == "__main__":
    harness.main()
