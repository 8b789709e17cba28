"""Ranks that want the lock of a target wait for those that hold it: recorded and simulated,
predicted and live alike.

tests/e2e/programs/locked.c has messages say who is first. Where nothing says so, and accesses bring
back what the first has left, that is told.
"""

import re

import harness

RANKS = 4

# Each rank draws a number, rank 1 a second one: in some way, from a counter of rank 0's.
DRAWS = r"""
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, value, one = 1, *memory;
  MPI_Request request;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  const char *way = argv[1];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_own = !strcmp(way, "own"), only = !strcmp(way, "one");
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, is_own ? MPI_COMM_SELF : MPI_COMM_WORLD, &memory,
                   &window);
  *memory = 0;
  const int target = !strcmp(way, "apart") ? (rank + 1) % 3 : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < (rank == 1 ? 2 : only ? 0 : 1); ++i) {
    if (!strcmp(way, "fetch") || !strcmp(way, "apart") || is_own || only)
      MPI_Fetch_and_op(&one, &value, MPI_INT, target, 0, MPI_SUM, window);
    if (!strcmp(way, "reads")) MPI_Fetch_and_op(&one, &value, MPI_INT, 0, 0, MPI_NO_OP, window);
    if (!strcmp(way, "swap")) MPI_Compare_and_swap(&one, &rank, &value, MPI_INT, 0, 0, window);
    if (!strcmp(way, "get"))
      MPI_Get_accumulate(&one, 1, MPI_INT, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    if (!strcmp(way, "rget")) {
      MPI_Rget_accumulate(&one, 1, MPI_INT, &value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(way, "locked")) {
      MPI_Win_unlock_all(window);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      MPI_Win_flush(0, window);
      MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      MPI_Win_unlock(0, window);
      MPI_Win_lock_all(0, window);
    }
    if (!strcmp(way, "adds")) {
      MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_flush(0, window);
      MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    }
    MPI_Win_flush(target, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""


class Locked(harness.TestCase):
    def command(self):
        return [harness.test_program("locked")]

    def live(self, *options):
        out = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", RANKS, "--machine", harness.T3D, "--compute", "annotated",
                       *options, "-o", out, "--", *self.command())
        return out

    def times(self, trace, name):
        """By rank the (enter, leave, wait) of the calls of that name that are a lock's own."""
        return [[(fields["enter"], fields["leave"], fields["wait"])
                 for _, called, fields in rank if called == name and fields.get("one_sided", 0) >= 9]
                for rank in self.events(trace)]

    def check_waits(self, trace):
        locks = self.times(trace, "MPI_Win_lock")
        unlocks = self.times(trace, "MPI_Win_unlock")
        self.assertEqual([len(rank) for rank in locks], [0, 3, 3, 3])
        # One after the other: who comes after leaves when the one before gives back.
        for rank in (2, 3):
            self.assertEqual(locks[rank][0][1], unlocks[rank - 1][0][0])
            self.assertGreater(locks[rank][0][2], 0)
        self.assertEqual(locks[1][0][2], 0)
        # Shared: nobody waits but rank 3, for the later one, rank 2.
        self.assertEqual([locks[rank][1][2] for rank in (1, 2)], [0, 0])
        self.assertEqual(locks[3][1][1], unlocks[2][1][0])
        self.assertLess(unlocks[1][1][0], unlocks[2][1][0])
        # What is free.
        self.assertEqual([locks[rank][2][2] for rank in (1, 2, 3)], [0, 0, 0])

    def test_predicted_as_recorded(self):
        predicted = self.predict(RANKS, self.command())
        self.check_waits(predicted)
        simulated = self.simulate(self.record(RANKS, self.command()))
        self.check_waits(simulated)
        self.assert_same_ticks(predicted, simulated)
        # What is predicted may be simulated again.
        self.assert_same_ticks(self.simulate(predicted, name="again.ftr"), simulated)

    def test_live_as_recorded(self):
        trace = self.record(RANKS, self.command())
        for network in (("datasheet",), ("loggps",),
                        ("flow", "--topology", "star:4?latency=1us&bandwidth=1GB/s")):
            with self.subTest(network=network):
                options = ("--network", *network)
                simulated = self.directory / "out.ftr"
                self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated",
                               *options, "-o", simulated)
                self.check_waits(simulated)
                self.assert_same_ticks(self.live(*options), simulated)

    def test_explained(self):
        """Whoever waits for a lock does so because of what its holder computes."""
        trace = self.record(RANKS, self.command())
        explain = ("explain", trace, "--machine", harness.T3D, "--compute", "annotated")
        out = self.foretrace(*explain).out
        self.assertRegex(out, r"other +MPI_Win_lock at \S+ +rank \d: computation before MPI_Win_unlock")
        # The critical path leads from lock to lock.
        self.assertGreater(float(re.search(r"computation +\S+ ms +(\S+) %", out).group(1)), 90)
        # Which messages meet is known all the same.
        self.assertIn("8 calls changed", self.foretrace(*explain, "--remove-barriers").err)

    def test_sweeps(self):
        """Many simulations of one program in memory."""
        trace = self.record(RANKS, self.command())
        once = self.simulate(trace)
        self.assertIn("predicted time", self.result.out)
        swept = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated",
                               "--sweep", "compute=1,1", "--csv").out.splitlines()
        time = max(rank[-1][2]["enter"] for rank in self.events(once))
        column = swept[0].split(",").index("time")
        self.assertEqual([round(float(line.split(",")[column]) * 1e12) for line in swept[1:]],
                         [time] * 2)

    def test_who_comes_first_to_a_counter(self):
        """Told once where several ranks draw from it, not of those that nobody else draws from, of what only adds or only reads."""
        program = self.compile(DRAWS)
        told = "rank 1 made 2 calls like {}, whose results tell who came first: "
        kept = told + "simulate keeps those of here, a live run (simulate -n) has the target's"
        ours = told + "that is this machine's doing; a live run (simulate -n) has the target's"
        for way, name in (("fetch", "MPI_Fetch_and_op"), ("locked", "MPI_Put under exclusive locks"), ("swap", "MPI_Compare_and_swap"), ("get", "MPI_Get_accumulate"),
                          ("rget", "MPI_Rget_accumulate"), ("own", ""), ("one", ""), ("apart", ""), ("reads", ""), ("adds", "")):
            with self.subTest(way=way):
                recorded = self.record(3, [program, way])
                said = [(self.result.err, kept), (self.foretrace("report", recorded).out, kept),
                        (self.foretrace("simulate", recorded, "--machine", harness.T3D).err, kept)]
                self.predict(3, [program, way], compute="none")
                for text, line in (*said, (self.result.err, ours)):
                    self.assertEqual(text.count("who came first"), 1 if name else 0, text)
                    self.assertIn(line.format(name) if name else "", text)


if __name__ == "__main__":
    harness.main()
