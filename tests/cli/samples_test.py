"""`foretrace simulate --samples`: the run time as a distribution.

    samples_test.py FORETRACE SOURCE
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

# One message: the receiver leaves after T_recv, 100 us, of which 90 % are from 80 to 150.
PROGRAM = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n"
MACHINE = """\
[machine]
name = "unsteady"
time_unit = "us"
[[function]]
name = "send"
class = "point-to-point"
[[function.regime]]
c = 1.0
[[function]]
name = "recv"
class = "point-to-point"
[[function.regime]]
c = 100.0
interval = [0.8, 1.5]
coverage = 0.9
"""


class Samples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "p.goal").write_text(PROGRAM)
        (self.folder / "m.toml").write_text(MACHINE)

    def simulate(self, *options, machine="m.toml", status=0):
        result = subprocess.run([FORETRACE, "simulate", "p.goal", "--machine", machine, *options],
                                cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def samples(self, *options):
        return json.loads(self.simulate("--samples", "2000", "--json", *options).stdout)

    def test_interval(self):
        """What is stated of the one call that matters comes out for the run."""
        told = self.samples()
        self.assertAlmostEqual(told["time"], 1e-4, delta=1e-12)
        found = told["samples"]
        self.assertEqual((found["count"], found["seed"]), (2000, 1))
        self.assertAlmostEqual(found["low"], 80e-6, delta=3e-6)
        self.assertAlmostEqual(found["median"], 100e-6, delta=2e-6)
        self.assertAlmostEqual(found["high"], 150e-6, delta=6e-6)

    def test_seed(self):
        self.assertEqual(self.samples(), self.samples())
        self.assertNotEqual(self.samples()["samples"], self.samples("--seed", "2")["samples"])

    def test_the_plain_prediction_stays(self):
        plain = self.simulate().stdout.splitlines()
        with_samples = self.simulate("--samples", "10").stdout.splitlines()
        self.assertEqual([line for line in with_samples if "draws" not in line], plain)

    def test_networks(self):
        told = self.samples("--network", "loggps")["samples"]
        self.assertLess(told["low"], told["high"])

    def test_a_model_without_errors(self):
        (self.folder / "sure.toml").write_text(MACHINE.split("interval")[0])
        self.assertIn("states no spread", self.simulate("--samples", "5", machine="sure.toml").stdout)

    def test_launches(self):
        """A draw is one of the launches, with its calls and its computation."""
        (self.folder / "p.goal").write_text(PROGRAM.replace("rank 1 { recv", "rank 1 {\ncalc 1ms\nrecv"))
        sure = MACHINE.split("interval")[0] + "[launches]\ncalls = [1, 2]\ncomputation = [1, 3]\n"
        (self.folder / "m.toml").write_text(sure)
        found = self.samples()["samples"]
        self.assertAlmostEqual(found["low"], 1.1e-3, delta=1e-11)
        self.assertAlmostEqual(found["high"], 3.2e-3, delta=1e-11)

    def test_patterns(self):
        """What the network is off by in the machine's patterns, a run may be off by."""
        medians = []
        for seconds in (1e-3, 2e-3):
            pattern = f'[[pattern]]\nname = "exchange_ring"\nranks = 4\nbytes = [2048]\nseconds = [{seconds}]\n'
            (self.folder / "m.toml").write_text(MACHINE.split("interval")[0] + pattern)
            found = self.samples()["samples"]
            self.assertEqual(found["low"], found["high"])
            medians.append(found["median"])
        # On the network the pattern takes 202 us: two sends are posted in 1 us each, then two messages
        # cost their receiver 100 us each.
        self.assertAlmostEqual(medians[0], 100e-6 * 1e-3 / 202e-6, delta=1e-9)
        self.assertAlmostEqual(medians[1], 2 * medians[0], delta=1e-11)

    def test_recordings(self):
        """How the program's own work differs: a further run is drawn as the recordings are scattered."""
        (self.folder / "m.toml").write_text(MACHINE.split("interval")[0])
        seconds = [1.0e-3, 1.1e-3, 1.3e-3]
        for name, calc in zip(("p.goal", "q.goal", "r.goal"), ("900us", "1ms", "1200us")):
            (self.folder / name).write_text(PROGRAM.replace("rank 1 { recv", f"rank 1 {{\ncalc {calc}\nrecv"))
        (self.folder / "other.goal").write_text(
            PROGRAM.replace("num_ranks 2", "num_ranks 3").replace("rank 1", "rank 2 { }\nrank 1"))
        told = json.loads(self.simulate("q.goal", "r.goal", "--samples", "4000", "--json").stdout)
        self.assertAlmostEqual(told["time"], seconds[0], delta=1e-12)
        found = told["samples"]
        self.assertEqual((found["count"], found["recordings"]), (4000, 3))
        logs = [math.log(each) for each in seconds]
        middle, width = statistics.mean(logs), statistics.stdev(logs) * math.sqrt(1 + 1 / 3)
        # 5 % of Student's t of 2 degrees of freedom are above 2.920.
        self.assertAlmostEqual(math.log(found["median"]), middle, delta=0.02)
        self.assertAlmostEqual(math.log(found["low"]), middle - 2.920 * width, delta=0.15 * 2.920 * width)
        self.assertAlmostEqual(math.log(found["high"]), middle + 2.920 * width, delta=0.15 * 2.920 * width)
        self.assertIn("9 draws of 3 recordings within", self.simulate("q.goal", "r.goal", "--samples", "9").stdout)
        alike = json.loads(self.simulate("p.goal", "p.goal", "--samples", "9", "--json").stdout)["samples"]
        self.assertEqual(alike["low"], alike["high"])
        self.assertIn("of one program, run alike", self.simulate("other.goal", "--samples", "3", status=1).stderr)
        self.assertIn("go with --samples", self.simulate("q.goal", status=2).stderr)

    def test_wrong_use(self):
        for options in (["--samples", "1"], ["--samples", "5", "--sweep", "latency=1,2"]):
            self.simulate(*options, status=2)


if __name__ == "__main__":
    FORETRACE = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
