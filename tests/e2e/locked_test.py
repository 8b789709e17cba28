"""Ranks that want the lock of a target wait for those that hold it: recorded and simulated,
predicted and live alike.

tests/e2e/programs/locked.c has messages say who is first.
"""

import re

import harness

RANKS = 4


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


if __name__ == "__main__":
    harness.main()
