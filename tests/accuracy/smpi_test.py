"""tools/accuracy/smpi.py: SMPI's parameters from times that are known, and what SimGrid makes of them."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/accuracy"))
import smpi  # noqa: E402

EAGER = 4096
SIZES = sorted({*range(1, 40, 3), *(int(40 * 1.25 ** i) for i in range(50))})


def known(size):
    """(MPI_Send, MPI_Isend, MPI_Recv of what is there, under way) of a machine: it changes at 1,000 and 4,096 bytes."""
    if size < 1000:
        return 1e-6 + 1e-10 * size, 2e-6, 3e-6 + 2e-10 * size, 10e-6 + 8e-9 * size
    if size < EAGER:
        return 2e-6 + 2e-10 * size, 4e-6, 5e-6 + 1e-10 * size, 20e-6 + 9e-9 * size
    return 0, 1e-6, 0, 50e-6 + 8e-9 * size


def calibration():
    """What the calibration program would write there: each size ten times, two of them far off."""
    lines = ["Wtime,1,0,2e-8", "Iprobe,1,0,3e-7", "Test,1,0,4e-7"]
    for size in SIZES:
        send, isend, receive, under_way = known(size)
        half = send + under_way + receive
        # Above the eager limit a send takes as long as its transfer.
        sent, late = (send, receive) if size < EAGER else (half, half)
        for factor in [1] * 8 + [0.1, 50]:
            for name, seconds in (("PingPong_Send", sent), ("PingPong_Recv", 2 * half - sent), ("Isend", isend),
                                  ("Recv", late)):
                lines.append(f"{name},{size},0,{seconds * factor:.12e}")
    return "\n".join(lines)


def pieces(text):
    """[(first size, value at 0, for each byte)] of SMPI's "0:a:b;1000:a:b" """
    return [tuple(map(float, piece.split(":"))) for piece in text.split(";")]


class Fit(unittest.TestCase):
    FIT = smpi.fit(smpi.read_times(calibration()), EAGER)

    def test_segments_begin_where_the_machine_changes(self):
        starts = [start for start, *_ in pieces(self.FIT.parameters["smpi/os"])]
        first = [0, min(size for size in SIZES if size >= 1000), min(size for size in SIZES if size >= EAGER)]
        self.assertEqual(starts, first)

    def test_calls_are_those_of_the_machine(self):
        for name, place in (("smpi/os", 0), ("smpi/ois", 1), ("smpi/or", 2)):
            for start, base, slope in pieces(self.FIT.parameters[name]):
                for size in (start + 1, start + 500):
                    self.assertAlmostEqual(base + slope * size, known(size)[place], delta=1e-12, msg=name)

    def test_factors_make_the_transfer(self):
        latencies = pieces(self.FIT.parameters["smpi/lat-factor"])
        for (start, latency), (_, rate) in zip(latencies, pieces(self.FIT.parameters["smpi/bw-factor"])):
            size = start + 500
            made = latency * self.FIT.latency + size / (rate * self.FIT.bandwidth)
            self.assertAlmostEqual(made / known(size)[3], 1, delta=1e-6)

    def test_a_known_link_keeps_its_bandwidth(self):
        fitted = smpi.fit(smpi.read_times(calibration()), EAGER, 125e6)
        self.assertEqual(fitted.bandwidth, 125e6)
        self.assertAlmostEqual(pieces(fitted.parameters["smpi/bw-factor"])[-1][1], 1, delta=1e-6)

    def test_the_rest(self):
        told = self.FIT.parameters
        self.assertEqual((told["smpi/wtime"], told["smpi/iprobe"], told["smpi/test"]), ("2e-08", "3e-07", "4e-07"))
        self.assertEqual((told["smpi/async-small-thresh"], told["smpi/send-is-detached-thresh"]), ("4096", "4096"))

    def test_no_line_goes_below_0(self):
        self.assertEqual(smpi.line_through([(1, 3.0), (2, 2.0), (3, 1.0)])[1], 0)
        self.assertEqual(smpi.line_through([(10, 1.0), (20, 5.0), (30, 9.0)])[0], 0)
        self.assertEqual(smpi.line_through([(7, 2.0)]), (2.0, 0))


@unittest.skipUnless(smpi.available(), "needs SimGrid (libsimgrid-dev)")
class Simgrid(unittest.TestCase):
    def test_a_ping_pong_there_takes_what_was_measured(self):
        fitted = smpi.fit(smpi.read_times(calibration()), EAGER)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "platform.xml").write_text(smpi.platform(fitted, 2))
            (folder / "hosts").write_text("node0\nnode1\n")
            (folder / "pingpong.c").write_text(r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, bytes = atoi(argv[1]);
  char *data = calloc(bytes, 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2000; ++i) {
    if (i % 2 == rank) MPI_Send(data, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    else MPI_Recv(data, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
""")
            subprocess.run(["smpicc", "-O1", folder / "pingpong.c", "-o", folder / "pingpong"], check=True)
            for size in (100, 2000, 100_000):
                done = subprocess.run(["smpirun", "-np", "2", "-platform", folder / "platform.xml", "-hostfile",
                                       folder / "hosts", "--cfg=smpi/display-timing:yes",
                                       "--cfg=smpi/simulate-computation:no", folder / "pingpong", str(size)],
                                      check=True, capture_output=True, text=True)
                seconds = float(re.search(r"Simulated time: (\S+) seconds", done.stderr + done.stdout)[1])
                send, _, receive, under_way = known(size)
                envelope = known(size + 16)[3] - under_way  # SimGrid adds one to every message
                self.assertAlmostEqual(seconds / 2000 / (send + receive + under_way + envelope), 1, delta=1e-4, msg=size)


if __name__ == "__main__":
    unittest.main()
