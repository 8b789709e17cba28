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
                     options=options, limit=30)
        return self.seconds(self.result.out)

    def test_virtual(self):
        """Each reading takes the timer's resolution, 6.6 ns on the T3D. The loop ends with the
        first reading that is 1 ms or more after the first; then there is one more:
        ceil(1e-3 / 6.6e-9) + 1 = 151,517 readings of 6.6 ns."""
        self.assertEqual(self.poll(), 0.001000012)

    def test_without_a_resolution(self):
        """Where readings take no time, 1000 in a row are free and the others take 100 ns: 10,000 until
        1 ms has passed, and one more."""
        text = harness.T3D.read_text()
        self.assertIn("timer_resolution", text)
        model = self.write("m.toml", re.sub("^timer_resolution.*\n", "", text, flags=re.M))
        self.assertEqual(self.poll(machine=model), 0.0010001)

    def test_real(self):
        """The real clock: at least 1 ms, and a predicted time of nothing."""
        self.assertGreaterEqual(self.poll("--wtime", "real"), 1e-3)
        final = self.events(self.directory / "predict.ftr")[0][-1]
        # Only the barrier takes time: 10 + 8 ln 2 us (appendix B's small table).
        barrier = [f for kind, name, f in self.events(self.directory / "predict.ftr")[0]
                   if name == "MPI_Barrier"][0]
        self.assertEqual(final[2]["enter"], barrier["leave"])


if __name__ == "__main__":
    harness.main()
