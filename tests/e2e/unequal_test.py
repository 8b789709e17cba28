"""Collectives with a count for each rank: what a trace keeps of the counts, and the messages that
are made of them, recorded and live.

tests/e2e/programs/unequal.c makes each of them twice, with counts that differ and with equal ones.
"""

import json
import re

import harness

RANKS = 4
LOGGPS = "L=2us,os=500ns,or=700ns,g=0,G=1ns"
# (collective, by rank its counts in bytes) of the calls that tell any.
PARTS = [400, 0, 1200, 0]
ALL = [PARTS] * RANKS
PIECES = [[0 if to in (r, (r + 1) % RANKS) else 4 * (10 * r + to + 1) for to in range(RANKS)]
          for r in range(RANKS)]
EXCHANGE = [PIECES[r] + [row[r] for row in PIECES] for r in range(RANKS)]
IN_PLACE = [[20 * (r + other) for other in range(RANKS)] * 2 for r in range(RANKS)]
# At the root, rank 3, all; elsewhere that it is nothing.
ROOTED = [None, [0], None, PARTS]
EXPECTED = [("gatherv", ROOTED), ("scatterv", ROOTED), ("allgatherv", ALL),
            ("reduce_scatter", ALL), ("alltoallv", EXCHANGE), ("alltoallw", EXCHANGE),
            ("gatherv", None), ("scatterv", None), ("allgatherv", None), ("reduce_scatter", None),
            ("alltoallv", None), ("alltoallw", None), ("alltoallv", IN_PLACE)]


class Unequal(harness.TestCase):
    posted = ()
    exchanges = ("MPI_Alltoallv", "MPI_Alltoallw")

    def command(self):
        return [harness.test_program("unequal"), *self.posted]

    def recorded(self):
        return self.record(RANKS, self.command())

    def text(self, trace):
        path = self.directory / "text.txt"
        self.foretrace("convert", trace, path)
        return path.read_text()

    def on(self, trace, *options):
        out = self.directory / "out.ftr"
        self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "none",
                       "--loggps", LOGGPS, *options, "-o", out)
        return out

    def check_counts(self, trace):
        rank, found = -1, [[] for _ in range(RANKS)]
        for line in self.text(trace).splitlines():
            if line.startswith("rank "):
                rank = int(line.split()[1])
            which = re.match(r"i?collective \S+ .*collective=(\w+)", line)
            if not which:
                continue
            counts = re.search(r" counts=(\S+)", line)
            if counts:
                runs = [run.split("x") for run in counts.group(1).split(",")]
                counts = [int(run[-1]) for run in runs for _ in range(int(run[0]) if run[1:] else 1)]
            found[rank].append((which.group(1), counts))
        self.assertEqual(found, [[(which, counts[r] if counts else None)
                                  for which, counts in EXPECTED] for r in range(RANKS)])

    def test_what_a_trace_keeps(self):
        """Of a recording, of its simulation and of a prediction alike."""
        trace = self.recorded()
        self.check_counts(trace)
        self.assert_survives_text(trace)
        self.check_counts(self.on(trace))
        predicted = self.predict(RANKS, self.command())
        self.check_counts(predicted)
        self.assert_same_ticks(predicted, self.simulate(trace))

    def test_what_an_exchange_is_charged_for(self):
        """The mean of what a rank sends to each, or of what it gets, whichever is more; the same in
        all three ways, and whatever the form of the call."""
        expected = [max(sum(parts[:RANKS]), sum(parts[RANKS:])) // RANKS for parts in EXCHANGE]
        trace = self.recorded()
        for way in (trace, self.live(), self.predict(RANKS, self.command())):
            for which in self.exchanges:
                charged = [next(fields["bytes"] for _, name, fields in rank if name == which)
                           for rank in self.events(way)]
                self.assertEqual(charged, expected, which)

    def live(self, *options):
        out = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", RANKS, "--machine", harness.T3D, "--compute", "none",
                       "--loggps", LOGGPS, *options, "-o", out, "--", *self.command())
        return out

    def test_live_as_recorded(self):
        """On each network, with the messages of each library."""
        trace = self.recorded()
        for network in (("loggps",), ("flow", "--topology", "star:4?latency=1us&bandwidth=1GB/s"),
                        ("packet", "--topology", "ring:4?latency=1us&bandwidth=1GB/s"),
                        ("datasheet",)):
            for library in ("openmpi", "mpich"):
                with self.subTest(network=network, library=library):
                    options = ("--network", *network, "--collectives", library)
                    live = self.live(*options)
                    self.check_counts(live)
                    self.assert_same_ticks(live, self.on(trace, *options))

    def test_both_mpis(self):
        """Who recorded it makes no difference."""
        other = {"openmpi": "mpich", "mpich": "openmpi"}[harness.mpi]
        if not harness.test_program("unequal", other).exists():
            self.skipTest(f"no {other}")
        traces = [self.record(RANKS, [harness.test_program("unequal", which)], f"{which}.ftr")
                  for which in (harness.mpi, other)]
        texts = []
        for trace in traces:
            out = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "none",
                                 "--loggps", LOGGPS, "--network", "loggps", "--json").out
            texts.append([rank["time"] for rank in json.loads(out)["per_rank"]])
        self.assertEqual(*texts)

    def test_who_has_nothing_to_send_does_not_wait(self):
        """The first call is an MPI_Gatherv to rank 3 of 400, 0 and 1200 bytes."""
        events = self.events(self.on(self.recorded(), "--network", "loggps"))
        first = [next(fields for _, name, fields in rank if name == "MPI_Gatherv")
                 for rank in events]
        self.assertEqual([fields["leave"] for fields in first[:3]], [500_000, 0, 500_000])


class Posted(Unequal):
    posted = ("posted",)
    exchanges = ("MPI_Ialltoallv", "MPI_Ialltoallw")

    def test_who_has_nothing_to_send_does_not_wait(self):
        """Nor does anybody else in a call that is posted."""


if __name__ == "__main__":
    harness.main()
