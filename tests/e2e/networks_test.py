"""One recorded run on every network: exact times by hand, the same bytes every time, the same times
with both MPIs, sweeps, wildcards, sub-communicators, and what is said about wrong options.

The times follow from docs/networks.md. Unless a test says otherwise: o_s = 0.5 us, o_r = 0.7 us,
g = 0; L = 2 us, G = 1 ns; links of 1 us and 1 GB/s. All in ns below.
"""

import json

import harness

OS, OR, L, LINK = 500, 700, 2000, 1000
LOGGPS = "L=2us,os=500ns,or=700ns,g=0,G=1ns"
SPEED = "?latency=1us&bandwidth=1GB/s"
NETWORKS = [("datasheet",), ("loggps",), ("bus",),
            ("hops", "--topology", "ring:8"), ("hops:cut-through", "--topology", "hypercube:3"),
            ("flow", "--topology", "torus:4x2?latency=1us&bandwidth=20MB/s"),
            ("packet", "--topology", "fattree:2,3?latency=1us&bandwidth=20MB/s"),
            ("packet", "--topology", "torus:4x2?latency=1us&bandwidth=20MB/s", "--routing", "adaptive")]


def send(to, size, **more):
    return {"op": "send", "comm": 0, "to": to, "tag": 0, "bytes": size, **more}


def recv(source, size):
    return {"op": "recv", "comm": 0, "from": source, "tag": 0, "bytes": size}


DELETES = """
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_open(MPI_COMM_WORLD, argv[argc - 1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""


class Networks(harness.TestCase):
    def scheduled(self, programs, comms=(), name="run"):
        ranks = len(programs)
        schedule = {"ranks": ranks, "comms": [list(range(ranks)), *comms], "programs": programs}
        path = self.write(f"{name}.json", json.dumps(schedule))
        return self.record(ranks, [harness.test_program("run_schedule"), path], f"{name}.ftr")

    def on(self, trace, *options, loggps=LOGGPS, name="out.ftr"):
        """The predicted trace of messages alone."""
        predicted = self.directory / name
        self.foretrace("simulate", trace, "--compute", "none", "--loggps", loggps, "--network",
                       *options, "-o", predicted)
        return predicted

    def leaves(self, predicted, kinds=("send", "recv", "collective")):
        """By rank the leave times of its calls, in ns."""
        return [[fields["leave"] / 1000 for kind, _, fields in events if kind in kinds]
                for events in self.events(predicted)]


class Messages(Networks):
    SIZE = 1000

    def test_ping_pong(self):
        """Three rounds between the ends of a line of three. A message takes `way` from the sender's
        overhead to its last byte; rank 0 is done after six messages."""
        rounds, size = 3, self.SIZE
        trace = self.scheduled([[send(1, size), recv(1, size)] * rounds,
                                [recv(0, size), send(0, size)] * rounds])
        ends = self.write("ends.txt", "0\n2\n")
        line = ("--topology", "array:3" + SPEED, "--placement", ends)
        for network, way in (
                (("loggps",), L + size - 1),
                # 3 blocks of at most 400 bytes on each of two links
                (("hops", *line, "--block", 400), 2 * 3 * LINK + 2 * size),
                (("hops", *line), 2 * LINK + 2 * size),
                (("hops:cut-through", *line), 2 * LINK + size),
                (("bus",), size + L),
                (("flow", *line), size + 2 * LINK),
                # two packets over two links: 3 times a packet's time
                (("packet", *line, "--packet-size", 500), 3 * 500 + 2 * LINK)):
            with self.subTest(network=network):
                leaves = self.leaves(self.on(trace, *network))
                self.assertEqual(leaves[0][-1], 2 * rounds * (OS + way + OR))
                # Rank 1 is done when it has sent its last answer.
                self.assertEqual(leaves[1][-1], (2 * rounds - 1) * (OS + way + OR) + OS)

    def test_rendezvous(self):
        """From S on the request goes there and the answer back before the data. Each costs who gets
        it an overhead, and the data costs the sender a second one. It is free when the last byte
        has left."""
        size = self.SIZE
        trace = self.scheduled([[send(1, size)], [recv(0, size)]])
        for threshold, sender, receiver in (
                (size + 1, OS, OS + L + size - 1 + OR),
                (size, OS + 2 * (L + OR) + OS + size - 1,
                 OS + 2 * (L + OR) + OS + L + size - 1 + OR)):
            leaves = self.leaves(self.on(trace, "loggps", loggps=f"{LOGGPS},S={threshold}"))
            self.assertEqual(leaves, [[sender], [receiver]])

    def test_shared_medium(self):
        """Two pairs at once. On links of their own they do not notice each other; on the bus the
        one with the higher number waits."""
        size = self.SIZE
        trace = self.scheduled([[send(1, size)], [recv(0, size)], [send(3, size)], [recv(2, size)]])
        alone = OS + 2 * LINK + size + OR
        pairs = self.leaves(self.on(trace, "flow", "--topology", "crossbar:4" + SPEED))
        self.assertEqual((pairs[1], pairs[3]), ([alone], [alone]))
        pairs = self.leaves(self.on(trace, "bus", "--topology", "bus:4" + SPEED))
        self.assertEqual(pairs[1], [OS + size + LINK + OR])
        self.assertEqual(pairs[3], [OS + 2 * size + LINK + OR])

    def test_shared_link(self):
        """0 and 1 of a line send to 2 at once. Both go through the last link and get half of it
        each, so their bytes flow for twice their time; the receiver takes them one by one."""
        size = self.SIZE
        trace = self.scheduled([[send(2, size)], [send(2, size)], [recv(1, size), recv(0, size)]])
        predicted = self.on(trace, "flow", "--topology", "array:3" + SPEED)
        first = OS + 2 * size + LINK + OR
        second = max(first, OS + 2 * size + 2 * LINK) + OR
        self.assertEqual(self.leaves(predicted)[2], [first, second])
        out = self.foretrace("simulate", trace, "--compute", "none", "--loggps", LOGGPS, "--network",
                             "flow", "--topology", "array:3" + SPEED, "--links", "--json").out
        links = {(link["from"], link["to"]): link for link in json.loads(out)["links"]}
        self.assertEqual(set(links), {("0", "1"), ("1", "2")})
        self.assertEqual((links["1", "2"]["messages"], links["1", "2"]["bytes"]), (2, 2 * size))
        self.assertAlmostEqual(links["1", "2"]["busy"], 2 * size * 1e-9, 12)

    def test_sub_communicators(self):
        """A chain in each of two communicators of three: 0, 2, 4 and, the root being the last
        member, 5, 1, 3. Each rank passes the message on when it has it. (They do not begin at
        0: the communicators were made by messages, too.)"""
        size = self.SIZE
        call = [{"op": "bcast", "comm": 1 + rank % 2, "root": 0 if rank % 2 == 0 else 2, "bytes": size}
                for rank in range(6)]
        trace = self.scheduled([[c] for c in call], comms=[[0, 2, 4], [1, 3, 5]])

        def bcasts(*options):
            return [next((fields["enter"] / 1000, fields["leave"] / 1000)
                         for _, name, fields in events if name == "MPI_Bcast")
                    for events in self.events(self.on(trace, "loggps", *options))]

        found = bcasts("--collectives", "bcast=chain")
        for chain in ((0, 2, 4), (5, 1, 3)):
            sent = found[chain[0]][0] + OS
            self.assertEqual(found[chain[0]][1], sent)
            for rank in chain[1:]:
                enter, leave = found[rank]
                received = max(enter, sent + L + size - 1) + OR
                sent = received + OS
                self.assertEqual(leave, received if rank == chain[-1] else sent, rank)
        # The machine has no equation: a broadcast takes nothing, and waits for its root alone.
        self.assertEqual(bcasts("--collectives", "equation"), [(0, 0)] * 6)


class Programs(Networks):
    def life(self):
        return self.record(8, [harness.paper_program("life"), "--rows", 24, "--cols", 40,
                               "--iters", 3], "life.ftr")

    def bytes_on(self, trace, *options):
        out = self.directory / "p.ftr"
        self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated",
                       "--network", *options, "-o", out)
        return out.read_bytes()

    def test_same_bytes(self):
        life = self.life()
        farm = self.record(5, [harness.paper_program("taskfarm"), "--tasks", 20], "farm.ftr")
        seen = set()
        for network in NETWORKS:
            for trace, more in ((life, ()), (life, ("--collectives", "mpich")),
                                (farm, ("--wildcards", "arrival"))):
                with self.subTest(network=network, more=more):
                    first = self.bytes_on(trace, *network, *more)
                    self.assertEqual(first, self.bytes_on(trace, *network, *more))
                    seen.add(first)
        self.assertEqual(len(seen), 3 * len(NETWORKS))  # each is a result of its own

    def test_both_mpis(self):
        """Who recorded a deterministic program makes no difference."""
        other = {"openmpi": "mpich", "mpich": "openmpi"}[harness.mpi]
        if not harness.paper_program("life", other).exists():
            self.skipTest(f"no {other}")
        for name, ranks, options in (("life", 8, ("--iters", 3)), ("cholesky", 4, ()),
                                     ("sor", 8, ())):
            traces = [self.record(ranks, [harness.paper_program(name, which), *options],
                                  f"{name}-{which}.ftr") for which in (harness.mpi, other)]
            for network in NETWORKS:
                with self.subTest(name=name, network=network):
                    results = []
                    for trace in traces:
                        out = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute",
                                             "annotated", "--network", *network, "--json").out
                        found = json.loads(out)
                        results.append((found["time"], found["serial_time"], found["wait"],
                                        [rank["time"] for rank in found["per_rank"]]))
                    self.assertEqual(*results)

    def test_files_deleted_on_close(self):
        """Who deletes the file waits for nobody longer than the call does: live as from a recording."""
        program = self.directory / "deletes"
        self.ok(harness.run([f"mpicc.{harness.mpi}", self.write("deletes.c", DELETES), "-o", program]))
        record = self.record(5, [program, self.directory / "data"])
        where = ("--machine", harness.T3D, "--compute", "none", "--network", "flow", "--topology",
                 "ring:8?latency=1us&bandwidth=1GB/s")
        self.foretrace("simulate", record, *where, "-o", self.directory / "p.ftr")
        self.foretrace("simulate", "-n", 5, *where, "-o", self.directory / "l.ftr", "--", program, self.directory / "data")
        self.assert_same_ticks(self.directory / "p.ftr", self.directory / "l.ftr")
        self.assertFalse((self.directory / "data").exists())

    def test_sweep(self):
        """Each point is the run with those parameters; threads make no difference."""
        trace = self.life()
        fixed = ("--compute", "annotated", "--machine", harness.T3D)

        def arguments(latency, bandwidth):
            return (*fixed, "--network", "flow", "--topology",
                    f"torus:4x2?latency={latency}us&bandwidth={bandwidth}MB/s",
                    "--loggps", f"L={latency}us,o=1us,g=0,G={1000 / bandwidth}ns")

        sweep = ("simulate", trace, *arguments(10, 20), "--sweep", "latency=0.5,4", "--sweep",
                 "bandwidth=0.25,1,2")
        points = json.loads(self.foretrace(*sweep, "--json").out)
        self.assertEqual([(point["latency"], point["bandwidth"]) for point in points],
                         [(a, b) for a in (0.5, 4) for b in (0.25, 1, 2)])
        for point in points:
            alone = json.loads(self.foretrace(
                "simulate", trace,
                *arguments(10 * point["latency"], 20 * point["bandwidth"]), "--json").out)
            for field in ("time", "serial_time", "wait"):
                self.assertEqual(point[field], alone[field], (point, field))
            self.assertAlmostEqual(point["efficiency"], alone["efficiency"], 12)
        for form in ((), ("--csv",), ("--json",)):
            texts = {self.foretrace(*sweep, *form, "--jobs", jobs).out for jobs in (1, 4)}
            self.assertEqual(len(texts), 1)

    def test_first_to_arrive(self):
        """The farmer of a task farm takes requests in the order of their virtual times, which is
        seldom that of the recorded run: with four workers the order of sending (the header's time on
        `datasheet`) of what it takes never goes back."""
        farm = self.record(6, [harness.paper_program("taskfarm"), "--tasks", 60], "farm.ftr")
        predicted = self.directory / "p.ftr"
        self.foretrace("simulate", farm, "--machine", harness.T3D, "--compute", "annotated",
                       "--wildcards", "arrival", "-o", predicted)
        ranks = self.events(predicted)
        sent = {rank: [fields["enter"] for kind, _, fields in events
                       if kind == "send" and fields["send"].startswith("0/1/")]
                for rank, events in enumerate(ranks)}
        order = []
        for kind, _, fields in ranks[0]:
            if kind == "recv" and fields["recv"].endswith("any-source"):
                source, tag, _ = fields["recv"].split("/")[:3]
                self.assertEqual(tag, "1")
                order.append(sent[int(source)].pop(0))
        self.assertGreater(len(order), 60)
        self.assertEqual(order, sorted(order))
        self.assertEqual({rank for rank, rest in sent.items() if rest}, set())


class Notes(Networks):
    def test_derived_parameters(self):
        """T_send(1) = 30 us, T_recvmin(1) = 30 + 0.9/8 us of the T3D's small messages."""
        trace = self.scheduled([[send(1, 8)], [recv(0, 8)]])
        run = ("simulate", trace, "--machine", harness.T3D, "--network", "loggps")
        result = self.foretrace(*run)
        self.assertEqual(result.err, "foretrace: derived from the equations of Cray T3D: "
                         "--loggps os=30us,or=30.1125us,L=0s,g=0s,G=62.4996ns\n")
        self.assertIn("on 2 ranks of Cray T3D (network loggps, collectives openmpi)\n", result.out)
        self.assertEqual(self.foretrace(*run, "--loggps", "L=0,o=1us,g=0,G=1ns").err, "")
        # Links with speeds need neither L nor G.
        result = self.foretrace("simulate", trace, "--network", "flow", "--topology", "full:2" + SPEED)
        self.assertEqual(result.err, "foretrace: not given and taken as 0: --loggps os=0s,or=0s,g=0s\n")

    def test_machine_without_messages(self):
        """ARCHER2's model is of collectives: on loggps all messages would be there at once."""
        trace = self.scheduled([[send(1, 8)], [recv(0, 8)]])
        run = ("simulate", trace, "--machine", "archer2-ofi", "--network")
        result = self.foretrace(*run, "loggps", status=2)
        self.assertIn("has no equations of messages between two ranks; say what they take", result.err)
        self.assertEqual(result.out, "")
        result = self.foretrace(*run, "loggps", "--loggps", "L=2us,o=500ns,G=0.08ns")
        self.assertEqual(result.err, "foretrace: not known of ARCHER2 (HPE Cray EX, Slingshot), OFI and taken as 0: "
                         "--loggps g=0s\n")
        self.foretrace(*run, "flow", "--topology", "full:2" + SPEED)

    def test_options_without_effect(self):
        trace = self.scheduled([[send(1, 8)], [recv(0, 8)]])
        machine = ("simulate", trace, "--machine", harness.T3D)
        for options, word in ((("--topology", "ring:2"), "--topology"),
                              (("--placement", "random:1"), "--placement"),
                              (("--loggps", "L=1us"), "takes S only"),
                              (("--packet-size", 512), "--packet-size"), (("--buffer", 4), "--buffer"),
                              (("--block", 100), "--block"), (("--flops", 5), "--flops"),
                              (("--reduction", "1ns"), "--reduction"), (("--links",), "--links")):
            with self.subTest(options=options):
                err = self.foretrace(*machine, *options).err
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(word, err)

    def test_refused(self):
        trace = self.scheduled([[send(1, 8)], [recv(0, 8)]])
        machine = ("--machine", harness.T3D)
        for status, options, words in (
                (2, (), ("--machine", "--loggps")),
                (2, ("--network", "datasheet"), ("--machine",)),
                (2, ("--network", "flow", "--topology", "ring:4"), ("--machine", "latency=1us")),
                (2, (*machine, "--network", "token-ring"), ("token-ring", "hops", "packet")),
                (2, (*machine, "--network", "flow"), ("--topology",)),
                (2, (*machine, "--network", "flow", "--topology", "ring"), ("ring",)),
                (2, (*machine, "--network", "flow", "--topology", "full:1"), ("1 rank", "2")),
                (2, (*machine, "--collectives", "bcast=fast"), ("fast", "binomial")),
                (2, (*machine, "--collectives", "lam"), ("lam", "openmpi", "mpich")),
                (2, (*machine, "--loggps", "L=2"), ("L must be a time",)),
                (2, (*machine, "--wildcards", "first"), ("--wildcards", "arrival")),
                (2, (*machine, "--reduction", "fast"), ("--reduction", "0.1ns")),
                (2, (*machine, "--buffer", 0), ("--buffer",)),
                (2, (*machine, "--flops", 0), ("--flops", "above 0")),
                (2, (*machine, "--csv"), ("--sweep",)),
                (2, (*machine, "--sweep", "latency=1,2"), ("latency", "loggps")),
                (2, (*machine, "--sweep", "speed=1"), ("speed", "bandwidth")),
                (2, (*machine, "--sweep", "compute=1,2", "--compute", "none"), ("compute",)),
                (2, (*machine, "--sweep", "compute=1", "-o", self.directory / "p.ftr"), ("-o",)),
                (2, (*machine, "--network", "flow", "--topology", "ring:4", "--placement", "random:x"),
                 ("random:x", "seed")),
                (2, (*machine, "--network", "flow", "--topology", "ring:4", "--placement", "nowhere"),
                 ("nowhere",))):
            with self.subTest(options=options):
                result = self.ok(harness.foretrace("simulate", trace, *options), status)
                last = result.err.splitlines()[-1]
                self.assertTrue(last.startswith("foretrace: "), result.err)
                for word in words:
                    self.assertIn(word, last)
                self.assertEqual(result.out, "")
        self.assertFalse((self.directory / "p.ftr").exists())

    def test_threshold_on_the_datasheet(self):
        """S of --loggps holds on every network: both send first."""
        trace = self.scheduled([[send(1, 8), recv(1, 8)], [send(0, 8), recv(0, 8)]])
        for network in ("datasheet", "loggps", "bus"):
            options = ("simulate", trace, "--machine", harness.T3D, "--network", network)
            self.foretrace(*options, "--loggps", "S=9")
            result = self.ok(harness.foretrace(*options, "--loggps", "S=8"), 1)
            self.assertIn("deadlock on the target", result.err.splitlines()[-1])


if __name__ == "__main__":
    harness.main()
