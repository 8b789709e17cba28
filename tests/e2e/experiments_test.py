"""Experiments of the papers with topologies: one recorded run, simulated on several networks.

Demaine 1996, table 2: a merge sort on a hypercube and on a ring. Howell's thesis, section 6.3.1: an allreduce
on a binary tree and a fat tree, on tori and an omega network. All times follow from the programs
by hand, exactly: computation is annotated, the processors' overheads are 0.
"""

import json

import harness

MACHINE = """[machine]
name = "computes, and sends without overhead"
ranks = 16

[compute]
step = 1e-7
"""


class Experiments(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = self.write("machine.toml", MACHINE)

    def outcome(self, trace, network, topology, *options):
        out = self.foretrace("simulate", trace, "--machine", self.machine, "--compute", "annotated",
                             "--network", network, "--topology", topology,
                             "--loggps", "L=0s,o=0s,g=0s,G=0s", *options, "--json").out
        return json.loads(out)


class MergeSort(Experiments):
    """10,000 integers, bubble sort on each rank, merged up a binary tree. A step takes 0.1 us, a
    link starts up in 50 us a block of 1500 bytes and moves a byte in 80 ns (100 Mbit/s). The program's
    broadcast of its options takes no time: the model has no equation for it."""

    SIZE = 10_000
    STEP = 100_000  # ps
    LATENCY = 50_000_000
    PER_BYTE = 80_000
    BLOCK = 1500
    SPEED = "?latency=50us&bandwidth=12.5MB/s"

    def expected(self, ranks, hops):
        """(time, computation of all ranks) in ps; hops(d): links from rank d to rank 0.

        All ranks have n/p integers and compare n/p (n/p - 1) / 2 times. In phase j pairs 2^j apart
        merge 2 * 2^j n/p integers; all that take part have come equally far: a rank's clock
        is its partner's."""
        part = self.SIZE // ranks
        time = part * (part - 1) // 2 * self.STEP
        total, distance = ranks * time, 1
        while distance < ranks:
            count = part * distance
            size = 4 * count
            blocks = -(-size // self.BLOCK)
            time += hops(distance) * (blocks * self.LATENCY + size * self.PER_BYTE)
            merging = 2 * count * self.STEP
            time += merging
            total += ranks // (2 * distance) * merging
            distance *= 2
        return time, total

    def simulated(self, trace, topology):
        return self.outcome(trace, "hops", topology + self.SPEED, "--block", self.BLOCK,
                           "--collectives", "equation")

    def test_hypercube_and_ring(self):
        speedups = {}
        for dimension in (1, 2, 3, 4):
            ranks = 2 ** dimension
            trace = self.record(ranks, [harness.paper_program("mergesort"), "--algorithm", "bubble",
                                        "--size", self.SIZE], f"sort{ranks}.ftr", limit=120)
            # In a ring of p, rank 2^j <= p/2 is 2^j hops from rank 0, in the others one.
            for kind, topology, hops in (("hypercube", f"hypercube:{dimension}", lambda d: 1),
                                         ("full", f"full:{ranks}", lambda d: 1),
                                         ("ring", f"ring:{ranks}", lambda d: d)):
                found = self.simulated(trace, topology)
                time, total = self.expected(ranks, hops)
                self.assertAlmostEqual(found["time"], time * 1e-12, 12, f"{ranks} ranks, {kind}")
                self.assertAlmostEqual(found["speedup"], total / time, 9)
                speedups[kind, ranks] = found["speedup"]
        hypercube = [speedups["hypercube", ranks] for ranks in (2, 4, 8, 16)]
        ring = [speedups["ring", ranks] for ranks in (2, 4, 8, 16)]
        # The pattern only requires a hypercube.
        self.assertEqual(hypercube, [speedups["full", ranks] for ranks in (2, 4, 8, 16)])
        # Structurally the same up to four, but the ring's numbering differs at four.
        self.assertEqual(hypercube[0], ring[0])
        self.assertGreater(hypercube[1], ring[1])
        # No significant benefit of the links at eight, a substantial one at sixteen.
        self.assertLess(hypercube[2] / ring[2], 1.15)
        self.assertGreater(hypercube[3] / ring[3], 1.5)
        # Sublinear, with more to gain from more ranks on the hypercube.
        self.assertEqual(hypercube, sorted(hypercube))
        self.assertTrue(all(s < p for s, p in zip(hypercube, (2, 4, 8, 16))))

    def test_start_up_of_blocks(self):
        """Cut-through pays every link's start-up once and the time per byte once: on a ring of 16
        it saves most of what the long way costs."""
        trace = self.record(16, [harness.paper_program("mergesort"), "--algorithm", "bubble",
                                 "--size", self.SIZE], limit=120)
        found = self.outcome(trace, "hops:cut-through", "ring:16" + self.SPEED, "--collectives",
                            "equation")
        part = self.SIZE // 16
        time = part * (part - 1) // 2 * self.STEP
        for distance in (1, 2, 4, 8):
            count = part * distance
            time += distance * self.LATENCY + 4 * count * self.PER_BYTE + 2 * count * self.STEP
        self.assertAlmostEqual(found["time"], time * 1e-12, 12)


class Allreduce(Experiments):
    """One MPI_Allreduce of 1 MB by recursive doubling: in step j ranks whose numbers differ in bit
    j exchange all. Links take 1 us and 1 ms for the whole message (1 GB/s); times in us."""

    SIZE = 1_000_000
    SPEED = "?latency=1us&bandwidth=1GB/s"
    STREAM = 1000

    def recorded(self, ranks):
        program = [{"op": "allreduce", "comm": 0, "bytes": self.SIZE}]
        schedule = {"ranks": ranks, "comms": [list(range(ranks))], "programs": [program] * ranks}
        path = self.write(f"allreduce{ranks}.json", json.dumps(schedule))
        return self.record(ranks, [harness.test_program("run_schedule"), path],
                           f"allreduce{ranks}.ftr", limit=60)

    def microseconds(self, trace, topology, network="flow"):
        found = self.outcome(trace, network, topology + self.SPEED,
                            "--collectives", "allreduce=recursive_doubling")
        return found["time"] * 1e6

    def check(self, trace, topology, sharing, hops):
        """sharing: of each step, how many messages go through its busiest link; hops: their links."""
        expected = sum(share * self.STREAM + links for share, links in zip(sharing, hops))
        found = self.microseconds(trace, topology)
        self.assertAlmostEqual(found, expected, 5, topology)
        return found

    def test_trees(self):
        """8 ranks. Step j of the binary tree takes all 2^j messages of a subtree through its one
        link up, the fat tree has a link for each. So it takes 3 instead of 7 times a message's
        time; the thesis found "approximately half"."""
        trace = self.recorded(8)
        tree = self.check(trace, "tree:2,3", (1, 2, 4), (2, 4, 6))
        fat_tree = self.check(trace, "fattree:2,3", (1, 1, 1), (2, 4, 6))
        self.assertAlmostEqual(fat_tree / tree, 0.43, delta=0.01)
        # Packets of 2 KiB come to the same, but for the switches that store and forward them.
        for topology, time in (("tree:2,3", tree), ("fattree:2,3", fat_tree)):
            packets = self.microseconds(trace, topology, "packet")
            self.assertAlmostEqual(packets / time, 1, delta=0.1, msg=topology)

    def test_tori_and_omega(self):
        """16 ranks. In a ring of four, 0 exchanges with 2 and 1 with 3 over two links each way
        round, rising: every rising link carries two. The other steps are between neighbours. An
        omega network passes an exchange of all numbers that differ in one bit without conflict,
        over one link more than its log2(16) stages."""
        trace = self.recorded(16)
        times = [self.check(trace, "torus:4x4", (1, 2, 1, 2), (1, 2, 1, 2)),
                 self.check(trace, "torus:2x2x4", (1, 2, 1, 1), (1, 2, 1, 1)),
                 self.check(trace, "omega:16", (1, 1, 1, 1), (5, 5, 5, 5)),
                 self.check(trace, "hypercube:4", (1, 1, 1, 1), (1, 1, 1, 1))]
        self.assertEqual(times, sorted(times, reverse=True))


if __name__ == "__main__":
    harness.main()
