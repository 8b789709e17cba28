"""Probes wait for their messages, alike in all three ways: the rank that probes goes on with what it
does for the message only once the message has been sent."""

import harness

PROGRAM = r"""
#include <mpi.h>
#include <foretrace.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, there = 0, data[4] = {0};
  const int way = argv[1][0], any = argv[2][0] == 'a';
  MPI_Status status;
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 3; ++round) {
    const int tag = any ? MPI_ANY_TAG : 5;
    if (rank == 1) {
      FORETRACE_COMPUTE(2000);
      MPI_Send(data, 4, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else if (rank == 0) {
      if (way == 'p') MPI_Probe(1, tag, MPI_COMM_WORLD, &status);
      if (way == 'm') MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message, &status);
      for (there = 0; way == 'i' && !there;) MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      for (there = 0; way == 'l' && !there;) MPI_Improbe(1, tag, MPI_COMM_WORLD, &there, &message, &status);
      FORETRACE_COMPUTE(2000);
      if (way == 'm' || way == 'l') MPI_Mrecv(data, 4, MPI_INT, &message, &status);
      else MPI_Recv(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


class Probes(harness.TestCase):
    def setUp(self):
        super().setUp()
        source, self.program = self.write("probes.c", PROGRAM), self.directory / "probes"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", f"-I{harness.SOURCE / 'include'}", source, "-o", self.program]))

    def live(self, command, options=(), name="live.ftr"):
        trace = self.directory / name
        self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", "annotated", *options, "-o", trace,
                       "--", *command)
        return trace

    def three_ways(self, *arguments):
        command = [self.program, *arguments]
        predicted = self.predict(2, command)
        simulated = self.simulate(self.record(2, command))
        self.assert_same_ticks(predicted, simulated)
        return predicted

    def test_the_wait_is_the_probes(self):
        for way in "pm":
            for tag in ("named", "any"):
                with self.subTest(way=way, tag=tag):
                    trace = self.three_ways(way, tag)
                    self.assert_same_ticks(trace, self.live([self.program, way, tag]))
                    probes = [fields for kind, _, fields in self.events(trace)[0] if kind == "probe"]
                    # The other rank computes 2000 steps of 1 us first.
                    self.assertEqual([probes[0]["enter"], probes[0]["wait"]], [0, 2_000_000_000])

    def test_looks_that_find_it(self):
        """How often they look differs; the run takes as long."""
        for way in "il":
            with self.subTest(way=way):
                ends = [self.events(self.three_ways(each, "named"))[0][-1][2]["enter"] for each in (way, "m")]
                self.assertEqual(*ends)

    def test_on_a_network(self):
        """A recording, and the trace of a live run, replayed."""
        options = ("--network", "loggps", "--loggps", "L=10us,o=1us,g=0,G=1ns,S=65536")
        for way in "pm":
            with self.subTest(way=way):
                live = self.live([self.program, way, "any"], options)
                for trace in (self.record(2, [self.program, way, "any"]), live):
                    again = self.directory / "again.ftr"
                    self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated", *options, "-o", again)
                    self.assert_same_ticks(live, again)


if __name__ == "__main__":
    harness.main()
