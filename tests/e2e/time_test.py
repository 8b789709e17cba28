"""MPI_Wtime under predict."""

import re

import harness


class Wtime(harness.TestCase):
    def seconds(self, text):
        found = re.search(r"polled several times, ([0-9.]+) s", text)
        self.assertTrue(found, text)
        return float(found.group(1))

    def poll(self, *options, machine=harness.T3D):
        self.predict(2, [harness.test_program("misbehave"), "poll_clock"], machine, compute="none",
                     options=options, limit=100)
        return self.seconds(self.result.out)

    def test_virtual(self):
        """Each reading takes the timer's resolution, 6.6 ns on the T3D. The loop ends with the
        first reading that is 1 ms or more after the first; then there is one more:
        ceil(1e-3 / 6.6e-9) + 1 = 151,517 readings of 6.6 ns."""
        self.assertEqual(self.poll(), 0.001000012)

    def test_without_a_resolution(self):
        """Each reading takes 100 ns: 10,000 until 1 ms has passed, and one more."""
        self.assertEqual(self.poll(machine=self.without_resolution()), 0.0010001)

    def without_resolution(self):
        text = harness.T3D.read_text()
        self.assertIn("timer_resolution", text)
        return self.write("m.toml", re.sub("^timer_resolution.*\n", "", text, flags=re.M))

    def test_real(self):
        """The real clock: at least 1 ms. In virtual time its readings take what they always take."""
        self.assertGreaterEqual(self.poll("--wtime", "real"), 1e-3)
        *_, barrier, readings, final = self.events(self.directory / "predict.ftr")[0]
        self.assertEqual((barrier[1], readings[1]), ("MPI_Barrier", "MPI_Wtime"))
        self.assertEqual(final[2]["enter"], barrier[2]["leave"] + 6600 * readings[2]["count"])

    def test_one_rule(self):
        """Whoever predicts a program, what its readings take is the same: 200 and one."""
        command = [harness.test_program("misbehave"), "read_clock", 200]
        recorded = self.record(2, command)
        for machine, reading in ((harness.T3D, 6600), (self.without_resolution(), 100_000)):
            with self.subTest(machine=machine.name):
                simulated = self.simulate(recorded, machine, compute="none")
                for clock in ("virtual", "real"):
                    self.assert_same_ticks(simulated, self.predict(2, command, machine, compute="none",
                                                                   options=["--wtime", clock]))
                live = self.directory / "live.ftr"
                self.foretrace("simulate", "-n", 2, "--machine", machine, "--compute", "none", "-o", live,
                               "--", *command)
                for trace in (simulated, live):
                    readings = [f for kind, name, f in self.events(trace)[0] if name == "MPI_Wtime"]
                    self.assertEqual(sum(f["count"] for f in readings), 201)
                    self.assertEqual(sum(f["leave"] - f["enter"] for f in readings), 201 * reading)


if __name__ == "__main__":
    harness.main()
