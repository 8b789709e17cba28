"""Data that nobody has written since it was sent last: all three ways see the same, and what they
see is what the program did (tests/e2e/programs/untouched.c says it before each call).

The machine: a message takes send 10 us and recv 100 us, half of it with untouched data; a
collective 40 us, and 10 us with untouched data.
"""

import re

import harness

FUNCTION = """[[function]]
name = "{}"
untouched = [[1024, {}]]
[[function.regime]]
c = {}
"""
MACHINE = ('[machine]\nname = "shared memory"\ntime_unit = "us"\n'
           + FUNCTION.format("send", 0.5, 10) + FUNCTION.format("recv", 0.5, 100)
           + "".join(FUNCTION.format(name, 0.25, 40)
                     for name in ("bcast", "gather", "scatter", "allgather", "alltoall")))
SENDS = ("send", "isend", "sendrecv", "collective")


class Untouched(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = self.write("machine.toml", MACHINE)
        self.command = [harness.test_program("untouched")]

    def simulated(self, *what, name="simulated.ftr", compute="none"):
        trace = self.directory / name
        self.foretrace("simulate", "--machine", self.machine, "--compute", compute, "-o", trace, *what)
        return trace

    def predicted(self, *options):
        trace = self.directory / "predicted.ftr"
        self.foretrace("predict", "-n", 3, "--machine", self.machine, "--compute", "none", "-o", trace,
                       *options, "--", *self.command)
        return trace

    def test_all_ways_agree(self):
        recorded = self.record(3, self.command)
        replayed = self.simulated(recorded)
        self.assert_same_ticks(replayed, self.predicted())
        self.assert_same_ticks(replayed, self.simulated("-n", 3, "--", *self.command, name="live.ftr"))

    def test_live_beside_a_table_too(self):
        """Which says what ranks compute, here nothing, and has no say in their data."""
        table = self.write("table.toml", '[elsewhere]\ntime = "none"\n')
        live = self.simulated("-n", 3, "--", *self.command, name="live.ftr", compute=f"table:{table}")
        self.assert_same_ticks(self.simulated(self.record(3, self.command)), live)

    def test_is_what_the_program_did(self):
        for trace in (self.record(3, self.command), self.predicted(),
                      self.simulated("-n", 3, "--", *self.command, name="live.ftr")):
            with self.subTest(trace=trace.name):
                text = self.directory / "text.txt"
                text.unlink(missing_ok=True)
                self.foretrace("convert", trace, text)
                rank, said, calls = -1, None, 0
                for line in text.read_text().splitlines():
                    if line.startswith("rank "):
                        rank = int(line.split()[1])
                    mark = re.match(r"mark (\S+)", line)
                    if mark:
                        said = mark.group(1)
                    if line.split(" ", 1)[0] not in SENDS or "MPI_PROC_NULL" in line:
                        continue
                    if line.startswith("sendrecv") and "to=" not in line:
                        continue
                    sends = not re.search("collective=(bcast|scatter)", line) or f"root={rank}" in line
                    expected = sends and said == "untouched"
                    self.assertEqual("untouched=1" in line, expected, f"rank {rank}: {line}")
                    calls += 1
                self.assertEqual(calls, 160)

    def test_by_hand(self):
        """The first four messages: written, as it was, written, as it was."""
        recorded = self.record(3, self.command)
        leaves = [[fields["leave"] / 1e6 for kind, _, fields in events if kind in ("send", "recv")]
                  for events in self.events(self.simulated(recorded))]
        self.assertEqual(leaves[0][:4], [10, 15, 25, 30])
        # Each one's own 100 us or 50 us begin when the one before is received.
        self.assertEqual(leaves[1][:4], [100, 150, 250, 300])

    def test_between_nodes_it_makes_no_difference(self):
        recorded = self.record(3, self.command)
        apart = self.simulated(recorded, "--ranks-per-node", 1, name="apart.ftr")
        leaves = [fields["leave"] / 1e6 for kind, _, fields in self.events(apart)[0] if kind == "send"]
        self.assertEqual(leaves[:4], [10, 20, 30, 40])
        self.assert_same_ticks(apart, self.predicted("--ranks-per-node", 1))

    def test_a_trace_tells_it(self):
        recorded = self.record(3, self.command)
        self.assert_survives_text(recorded)
        archive = self.directory / "archive.otf2"
        again = self.directory / "again.ftr"
        self.foretrace("convert", recorded, archive)
        self.foretrace("convert", archive, again)
        self.assert_same_ticks(self.simulated(recorded), self.simulated(again, name="again2.ftr"))


if __name__ == "__main__":
    harness.main()
