"""Several messages of a rank follow one another where the machine has gap: recorded, predicted, live.

The machine is the Cray T3D with a gap of 90 us, and S of 8,000 bytes: tests/e2e/programs/rows.c."""

import harness


class Rows(harness.TestCase):
    def setUp(self):
        super().setUp()
        text = harness.with_threshold(harness.T3D.read_text(), 8000)
        self.machine = self.write("gap.toml", harness.with_gap(text, 90))
        # Messages that come together take a rank longer than its own calls.
        self.slow = self.write("slow.toml", harness.with_gap(text, 300))

    def live(self, ranks, which, machine=None, name="live.ftr", **rest):
        out = self.directory / name
        self.foretrace("simulate", "-n", ranks, "--machine", machine or self.machine, "--compute", "annotated",
                       "-o", out, "--", harness.test_program("rows"), which, **rest)
        return out

    def all_ways(self, ranks, which, machine=None):
        command = [harness.test_program("rows"), which]
        machine = machine or self.machine
        recorded = self.record(ranks, command)
        return (self.simulate(recorded, machine=machine),
                self.predict(ranks, command, machine=machine), self.live(ranks, which, machine))

    def test_by_hand(self):
        """The example of docs/theory.md, without and with a gap."""
        for machine, leave in ((harness.T3D, 280_160_000), (self.machine, 305_000_000)):
            for trace in self.all_ways(2, "pair", machine):
                for rank in self.events(trace):
                    waits = [fields for _, name, fields in rank if name == "MPI_Waitall"]
                    self.assertEqual([each["enter"] for each in waits], [158_000_000])
                    self.assertEqual([each["leave"] for each in waits], [leave])

    def test_three_ways(self):
        for ranks, machine in ((2, self.slow), (3, self.machine), (4, self.slow)):
            with self.subTest(ranks=ranks):
                simulated, predicted, live = self.all_ways(ranks, "mixed", machine)
                self.assert_same_ticks(predicted, simulated)
                self.assert_same_ticks(live, simulated)

    def test_polled(self):
        """Ranks that follow their own clocks past tests find what the simulator finds."""
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                ahead = self.live(ranks, "polled", self.slow, name="ahead.ftr")
                asking = self.live(ranks, "polled", self.slow, env={"FORETRACE_LIVE_AHEAD": "off"})
                self.assert_same_ticks(ahead, asking)


if __name__ == "__main__":
    harness.main()
