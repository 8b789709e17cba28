"""tools/testbed: hosts of their own, links as slow as they were asked for, nothing left behind.

    testbed_test.py SOURCE PROGRAM FORETRACE

Ends with 77 (skipped), and says why, where the machine has no network namespaces to give.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BYTES = 1_000_000
NAME = f"test{os.getpid()}"


def testbed(*arguments, limit=120):
    return subprocess.run([sys.executable, SOURCE / "tools/testbed", "--name", NAME, *map(str, arguments)],
                          capture_output=True, text=True, timeout=limit, check=False)


class Testbed(unittest.TestCase):
    def setUp(self):
        self.addCleanup(testbed, "down")

    def up(self, *arguments):
        result = testbed("up", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)

    def seconds(self, ranks, source, to):
        """The least of three, since others share the cores; a link cannot be too fast."""
        times = []
        for _ in range(3):
            result = testbed("run", "-n", ranks, "--", PROGRAM, source, to, BYTES)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.hosts = re.findall(r"on (\w+)", result.stdout)
            times.append(float(re.search(r"seconds (\S+)", result.stdout)[1]))
        return min(times)

    def check(self, seconds, megabits):
        wire = BYTES * 8 / (megabits * 1e6)
        self.assertGreater(seconds, 0.95 * wire)
        self.assertLess(seconds, 2 * wire)

    def test_star(self):
        self.up("--hosts", 3, "--rate", "40mbit")
        self.check(self.seconds(3, 0, 2), 40)
        self.assertEqual(sorted(self.hosts), ["node1", "node2", "node3"])
        again = testbed("up")
        self.assertEqual(again.returncode, 1)
        self.assertIn("already", again.stderr)

    def test_ranks_of_one_host_share_memory(self):
        self.up("--hosts", 2, "--rate", "10mbit")
        self.assertLess(self.seconds(4, 0, 1), 0.2)  # by the link: 0.8
        self.assertEqual(sorted(self.hosts), ["node1", "node1", "node2", "node2"])

    def test_thin_trunk(self):
        self.up("--shape", "trunk", "--hosts", 4, "--rate", "100mbit", "--trunk", "20mbit")
        self.check(self.seconds(4, 0, 1), 100)
        self.check(self.seconds(4, 0, 3), 20)

    def test_ring_of_routers(self):
        self.up("--shape", "ring", "--hosts", 4, "--rate", "40mbit")
        self.check(self.seconds(4, 0, 2), 40)  # by two routers between

    def test_topology_is_what_foretrace_reads(self):
        with tempfile.TemporaryDirectory() as at:
            for shape, distance in (("star", 2), ("trunk", 3), ("ring", 4)):
                self.up("--shape", shape, "--hosts", 4, "--rate", "40mbit")
                pathlib.Path(at, "net.toml").write_text(testbed("topology").stdout)
                testbed("down")
                told = subprocess.run([FORETRACE, "topology", "net.toml"], cwd=at, text=True,
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual(told.returncode, 0, told.stderr)
                self.assertRegex(told.stdout, r"processors +4\n")
                self.assertRegex(told.stdout, rf"distance in hops +{distance} at most")

    def test_header_of_a_message(self):
        """Ethernet, IP and TCP with its time stamps make 66 bytes; what MPI adds is no second frame."""
        self.up("--hosts", 2, "--rate", "100mbit")
        with tempfile.TemporaryDirectory() as at:
            launcher = f"{SOURCE}/tools/testbed --name {NAME} run -n 2 --"
            result = subprocess.run([FORETRACE, "measure", "-n", "2", "--mpi", "openmpi", "--quick", "--budget", "3",
                                     "--keep-invalid", "--launch", launcher, "-o", "hosts.toml"], cwd=at, text=True,
                                    capture_output=True, timeout=120, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            samples = pathlib.Path(at, "hosts.samples.csv").read_text()
        header = re.search(r"^# header = (\d+)$", samples, re.MULTILINE)
        self.assertIsNotNone(header, samples[:2000])
        self.assertGreater(int(header[1]), 66)
        self.assertLess(int(header[1]), 2 * 66)

    def test_nothing_is_left(self):
        self.up("--hosts", 2)
        self.assertEqual(sorted(testbed("run", "--", "hostname").stdout.split()), ["node1", "node2"])
        folder = pathlib.Path(tempfile.gettempdir(), f"foretrace-testbed-{NAME}")
        self.assertTrue(folder.exists())
        testbed("down")
        self.assertFalse(folder.exists())
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
        self.assertNotIn(NAME, listed.stdout)
        self.assertEqual(testbed("run", "--", "true").returncode, 1)

    def test_wrong_use(self):
        for arguments in (["--rate", "fast"], ["--hosts", "1"], ["--shape", "ring", "--hosts", "2"]):
            self.assertEqual(testbed("up", *arguments).returncode, 1)


if __name__ == "__main__":
    SOURCE, PROGRAM, FORETRACE = (pathlib.Path(argument) for argument in sys.argv[1:])
    possible = testbed("check")
    if possible.returncode != 0:
        print("skipped:", possible.stderr.strip())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
