"""What explain writes, and how it compares with an earlier run.

    explain_test.py FORETRACE SOURCE
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GOAL = """num_ranks 2
rank 0 { a: calc 100000
b: send 1000b to 1
b requires a }
rank 1 { b: recv 1000b from 0
c: calc %d
c requires b }
"""
# Three fields for a neighbour, each in a message of its own, and a barrier; an allreduce.
FIELDS = """0 init
1 init
0 compute 5e4
0 send 1 1 4000
0 send 1 2 4000
0 send 1 3 4000
0 barrier
0 compute 6e4
0 recv 1 9 8
0 compute 4e4
0 allreduce 100000 0
0 finalize
1 recv 0 1 4000
1 recv 0 2 4000
1 recv 0 3 4000
1 barrier
1 compute 1e5
1 send 0 9 8
1 allreduce 100000 0
1 finalize
"""
LOGGPS = ["--loggps", "L=2us,o=500ns,g=100ns,G=0.1ns"]


# Ranks that are far from each other on a line exchange messages.
PAIRS = "num_ranks 6\n" + "".join(
    f"""rank {rank} {{ a: calc {1000 * rank}
b: send 20000b to {(rank + 3) % 6}
c: recv 20000b from {(rank + 3) % 6}
b requires a
c requires a }}
""" for rank in range(6))


class Explain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "old.goal").write_text(GOAL % 50000)
        (self.folder / "new.goal").write_text(GOAL % 80000)

    def explain(self, *words, status=0):
        result = subprocess.run([FORETRACE, "explain", *words], capture_output=True, text=True,
                                timeout=100, cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result

    def test_the_critical_path_counts_its_messages(self):
        self.assertIn("\nCritical path, through 1 message\n", self.explain("old.goal", *LOGGPS).stdout)
        (self.folder / "none.goal").write_text("num_ranks 1\nrank 0 { calc 1000 }\n")
        self.assertIn("\nCritical path, through 0 messages\n", self.explain("none.goal", *LOGGPS).stdout)

    def test_files(self):
        for file in ("out.json", "out.txt"):
            with self.subTest(file=file):
                result = self.explain("old.goal", *LOGGPS, "-o", file)
                self.assertEqual((result.stdout, result.stderr), ("", f"foretrace: wrote {file}\n"))
        printed = self.explain("old.goal", *LOGGPS, "--json").stdout
        self.assertEqual((self.folder / "out.json").read_text(), printed)
        self.assertEqual((self.folder / "out.txt").read_text(), self.explain("old.goal", *LOGGPS).stdout)

    def test_better_placement(self):
        """The finding, the file and a simulation with the file say the same."""
        (self.folder / "pairs.goal").write_text(PAIRS)
        machine = [*LOGGPS, "--network", "flow", "--topology", "mesh:6"]
        told = self.explain("pairs.goal", *machine, "--better-placement", "ranks.txt", "--json")
        self.assertIn("wrote ranks.txt", told.stderr)
        told = json.loads(told.stdout)
        self.assertGreater(told["gain"], 0)
        explained = json.loads(self.explain("pairs.goal", *machine, "--json").stdout)
        finding, = [one for one in explained["findings"] if one["kind"] == "placement"]
        self.assertEqual((finding["predicted_time"], finding["effort"]),
                         (told["predicted_time"], "setting"))
        self.assertAlmostEqual(finding["gain"], told["gain"], delta=1e-12)
        lines = (self.folder / "ranks.txt").read_text().split()
        self.assertEqual(lines, finding["processors"])
        self.assertEqual(sorted(lines), list("012345"))
        simulated = subprocess.run(
            [FORETRACE, "simulate", "pairs.goal", *machine, "--placement", "ranks.txt", "--json"],
            capture_output=True, text=True, check=True, timeout=100, cwd=self.folder)
        self.assertEqual(json.loads(simulated.stdout)["time"], told["predicted_time"])
        # From there nothing is left to win.
        again = self.explain("pairs.goal", *machine, "--placement", "ranks.txt", "--json")
        self.assertNotIn("placement", [one["kind"] for one in json.loads(again.stdout)["findings"]])

    def test_better_placement_where_there_is_none(self):
        (self.folder / "pairs.goal").write_text(PAIRS)
        result = self.explain("pairs.goal", *LOGGPS, "--better-placement", "ranks.txt", status=2)
        self.assertIn("all the same where a rank runs", result.stderr)
        self.assertFalse((self.folder / "ranks.txt").exists())
        result = self.explain("pairs.goal", *LOGGPS, "--better-placement", "ranks.txt",
                              "--remove-barriers", status=2)
        self.assertIn("--better-placement stands alone", result.stderr)

    def test_scaling(self):
        """By hand: 2 ranks compute 60 and 40 us, 4 ranks 30, 20, 30 and 40 us; nothing else takes time but
        one message of 10 us from each rank to the next."""
        program = ("num_ranks {0}\n" + "rank all {{ a: calc {1}\nb: send 8b to (me+1)%size\n"
                   "c: recv 8b from (me-1)%size\nb requires a\nc requires a }}\n")
        (self.folder / "two.goal").write_text(program.format(2, "60000-me*20000"))
        (self.folder / "four.goal").write_text(program.format(4, "40000-((me+1)%3)*10000"))
        machine = ["--loggps", "L=10us,o=0s,g=0s,G=0ns"]
        told = json.loads(self.explain("four.goal", "two.goal", *machine, "--scaling", "strong", "--json").stdout)
        two, four = told["runs"]
        self.assertEqual((told["reference"], two["run"], four["run"]), ("two.goal", "two.goal", "four.goal"))
        for run, ranks, time, most, whole in ((two, 2, 70e-6, 60e-6, 100e-6), (four, 4, 50e-6, 40e-6, 120e-6)):
            expected = {"ranks": ranks, "time": time, "compute": whole, "speedup": 70e-6 / time,
                        "parallel": whole / ranks / time, "load_balance": whole / ranks / most,
                        "communication": most / time, "serialisation": 1, "transfer": most / time,
                        "computation": 100e-6 / whole, "global": 100e-6 / ranks / time}
            for name, value in expected.items():
                self.assertAlmostEqual(run[name], value, places=9, msg=f"{run['run']} {name}")
            alone = json.loads(self.explain(run["run"], *machine, "--json").stdout)["efficiency"]
            for name, value in alone.items():
                self.assertAlmostEqual(run[name], value, places=12, msg=name)
        # Twice the work on twice the ranks.
        told = json.loads(self.explain("four.goal", "two.goal", *machine, "--scaling", "weak", "--json").stdout)
        self.assertAlmostEqual(told["runs"][1]["computation"], 200 / 120)
        self.assertAlmostEqual(told["runs"][1]["speedup"], 2 * 70 / 50)

    def test_runs_that_differ_are_told(self):
        """Texts have no name but their file's; traces say what they are of."""
        both = ["--machine", "cray-t3d", "--scaling", "strong"]
        self.assertNotIn("differ", self.explain("old.goal", "new.goal", *both).stdout)
        for name in ("old", "new"):
            subprocess.run([FORETRACE, "simulate", f"{name}.goal", "--machine", "cray-t3d", "-o", f"{name}.ftr"],
                           check=True, timeout=100, cwd=self.folder, capture_output=True)
        told = self.explain("old.ftr", "new.ftr", *both).stdout
        self.assertIn("note: the programs differ: old.ftr is of old.goal, new.ftr of new.goal\n", told)
        self.assertNotIn("differ", self.explain("old.ftr", "old.ftr", *both).stdout)
        self.explain("old.goal", *LOGGPS, "-o", "old.json")
        (self.folder / "more.goal").write_text("num_ranks 3\n" + (GOAL % 5).split("\n", 1)[1])
        said = self.explain("more.goal", *LOGGPS, "--baseline", "old.json", "--within", "100%").stderr
        self.assertIn("the runs differ: before 2 ranks and ", said)
        self.assertIn(" calls, now 3 ranks and ", said)
        self.assertEqual(self.explain("old.goal", *LOGGPS, "--baseline", "old.json").stderr, "")

    def test_scaling_forms_and_faults(self):
        both = ["old.goal", "new.goal", *LOGGPS, "--scaling"]
        text = self.explain(*both, "strong").stdout
        self.assertIn("computation scalability", text)
        self.explain(*both, "strong", "-o", "table.txt")
        self.assertEqual((self.folder / "table.txt").read_text(), text)
        self.explain(*both, "strong", "-o", "table.html")
        self.assertIn("computation scalability", (self.folder / "table.html").read_text())
        self.assertIn("expected strong", self.explain(*both, "big", status=2).stderr)
        self.assertIn("two or more", self.explain("old.goal", *LOGGPS, "--scaling", "weak", status=2).stderr)
        self.assertIn("several runs", self.explain("old.goal", "new.goal", *LOGGPS, status=2).stderr)
        self.assertIn("stands alone", self.explain(*both, "weak", "--remove-barriers", status=2).stderr)

    def test_one_imbalance_is_told_once(self):
        """The run's computation is nearly all of one place's; what the model lacks is named as by simulate."""
        (self.folder / "p.ti").write_text("".join(
            f"{rank} init\n{rank} compute {most}\n{rank} barrier\n{rank} compute {least}\n{rank} allToAll 8 8\n"
            f"{rank} finalize\n" for rank, most, least in ((0, 1e6, 1e4), (1, 3e6, 2e4))))
        (self.folder / "m.toml").write_text(
            '[machine]\ntime_unit = "us"\n[[function]]\nname = "barrier"\nclass = "barrier"\n'
            '[[function.regime]]\nbytes = [0]\nc = 10.0\n')
        result = self.explain("p.ti", "--machine", "m.toml", "--json")
        found = [finding["gain"] for finding in json.loads(result.stdout)["findings"]
                 if finding["kind"] == "imbalance" and "Barrier" in json.dumps(finding)]
        self.assertEqual([round(gain, 4) for gain in found], [0.001])  # half of 2 ms
        self.assertIn("nothing stands in, so these take no time: alltoall\n", result.stderr)
        self.assertIn("alltoall", json.dumps(json.loads(result.stdout)["notes"]))

    def test_endings(self):
        for words, says in ((["-o", "x.pdf"], ".html, .json or .txt"),
                            (["-o", "x.ftr"], ".html, .json or .txt"),
                            (["--zero-wait", "MPI_Wait", "-o", "x.html"], "this writes a trace"),
                            (["--baseline", "old.json", "--within", "much"], "--within: expected a share"),
                            (["--baseline", "old.json", "--within", "5"], "say 5%"),
                            (["--baseline", "old.json", "--within=-5%"], "--within: expected a share"),
                            (["--baseline", "old.json", "--speed", "MPI_Isend=2"], "leave out the what-if")):
            with self.subTest(words=words):
                self.assertIn(says, self.explain("old.goal", *LOGGPS, *words, status=2).stderr)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["new.goal", "old.goal"])

    def test_baseline(self):
        self.explain("old.goal", *LOGGPS, "-o", "old.json")
        text = self.explain("old.goal", *LOGGPS, "--baseline", "old.json").stdout
        self.assertIn("(+0.0 %): not worse than the baseline within 0.0 %", text)
        self.assertNotIn("difference", text)
        # 30 us more of computation at the end of a run of 153.1 us.
        result = self.explain("new.goal", *LOGGPS, "--baseline", "old.json", "--json", status=1)
        said = json.loads(result.stdout)
        self.assertTrue(said["worse"])
        self.assertAlmostEqual(said["time"] - said["baseline_time"], 30e-6, 12)
        parts = sum(one["now"] - one["before"] for one in said["critical_path"])
        self.assertAlmostEqual(parts, 30e-6, 12)
        self.assertEqual(said["critical_path"][0]["what"], "computation before MPI_Finalize")
        self.assertIn("imbalance before MPI_Finalize", [one["what"] for one in said["findings"]])
        for within, status in (("19%", 1), ("20%", 0), ("0.2", 0), ("0", 1)):
            with self.subTest(within=within):
                text = self.explain("new.goal", *LOGGPS, "--baseline", "old.json", "--within", within,
                                    status=status).stdout
                self.assertIn("(+19.6 %)", text)
        # What got quicker is no matter.
        self.explain("new.goal", *LOGGPS, "-o", "new.json")
        self.explain("old.goal", *LOGGPS, "--baseline", "new.json")

    def test_other_calls(self):
        (self.folder / "fields.ti").write_text(FIELDS)
        network = ["--loggps", "L=2us,o=3us,g=5us,G=0.1ns"]

        def changed(*words):
            result = self.explain("fields.ti", *network, *words, "--json", "-o", "new.ftr")
            said = json.loads(result.stdout)
            again = subprocess.run([FORETRACE, "simulate", "new.ftr", *network, "--json"], capture_output=True,
                                   text=True, timeout=100, cwd=self.folder, check=True)
            self.assertEqual(json.loads(again.stdout)["time"], said["predicted_time"], words)
            return said, result.stderr

        # Rank 0 sends from 50 us on, at every 5 us; each message arrives 3 + 2 + 0.4 us later.
        said, told = changed("--merge-messages", "MPI_Send")
        self.assertIn("--merge-messages MPI_Send: 6 calls changed", told)
        self.assertLess(said["predicted_time"], said["time"])
        said, told = changed("--remove-barriers")
        self.assertIn("--remove-barriers: 2 calls changed", told)
        self.assertLess(said["predicted_time"], said["time"])
        said, told = changed("--nonblocking", "MPI_Recv", "--nonblocking", "MPI_Send")
        self.assertIn("--nonblocking MPI_Recv: 4 calls changed", told)
        self.assertLess(said["predicted_time"], said["time"])
        said, told = changed("--merge-messages", "MPI_Send", "--remove-barriers", "--speed", "MPI_Recv=2")
        self.assertLess(said["predicted_time"], said["time"])

    def test_a_phase_is_what_lies_in_it(self):
        """By hand: 100 and 500 us before it, of 10 and 90 us, then 30 and 10 us; barriers take no time."""
        inside = 'phase "solve" {{ calc {}us; wait; barrier; calc {}us; wait }}; barrier }}\n'
        (self.folder / "solve.goal").write_text(
            "num_ranks 2\nrank 0 { calc 100us; wait; " + inside.format(10, 30) +
            "rank 1 { calc 500us; wait; " + inside.format(90, 10))
        words = ["solve.goal", "--loggps", "L=0us,o=0,g=0,G=0ns", "--json"]
        said = json.loads(self.explain(*words).stdout)
        self.assertEqual(said["time"], 620e-6)
        for option, time in (("--speed solve=2", 560e-6), ("--balance solve", 570e-6)):
            alone = json.loads(self.explain(*words, *option.split()).stdout)
            self.assertEqual(alone["predicted_time"], time, option)
        found = next(one for one in said["findings"] if one["kind"] == "imbalance" and one["phase"] == "solve")
        self.assertEqual((found["check"], found["predicted_time"]), ("--balance solve", 570e-6))

    def test_what_lies_in_no_phase_has_a_name(self):
        """An imbalance at several places of a program without phases can be tried alone. By hand: in each of two
        rounds 30 us remain of 50 us on one rank."""
        (self.folder / "plain.goal").write_text(
            "num_ranks 2\nrank 0 { calc 50us; wait; barrier; calc 10us; wait; allreduce 8b }\n"
            "rank 1 { calc 10us; wait; barrier; calc 50us; wait; allreduce 8b }\n")
        words = ["plain.goal", "--loggps", "L=0us,o=0,g=0,G=0ns", "--json"]
        first = json.loads(self.explain(*words).stdout)["findings"][0]
        self.assertEqual((first["kind"], first["whole_phase"], first["check"], first["predicted_time"]),
                         ("imbalance", True, "--balance no-phase", 60e-6))
        self.assertEqual(json.loads(self.explain(*words, *first["check"].split()).stdout)["predicted_time"], 60e-6)
        self.assertIn("it has MPI_Allreduce, MPI_Barrier, MPI_Finalize, MPI_Init, no-phase",
                      self.explain(*words, "--balance", "none", status=2).stderr)

    def test_a_buffer_is_posted_again_only_when_its_receive_was_waited_for(self):
        """The posted receive in between is of another place, so that it has another buffer."""
        sender = "0 init\n" + "0 send 1 1 100000\n" * 3 + "0 finalize\n"

        def run(name, *receiver):
            (self.folder / name).write_text(sender + "".join(f"1 {line}\n" for line in receiver))

        network = ["--loggps", "L=2us,o=500ns,g=100ns,G=0.1ns,S=1000"]
        recv, irecv, wait, compute = "recv 0 1 100000", "irecv 0 1 100000", "wait 0 1 1", "compute 5e5"
        run("blocking.ti", "init", recv, irecv, compute, recv, wait, "finalize")
        run("posted.ti", "init", irecv, irecv, compute, wait, irecv, wait, wait, "finalize")
        result = self.explain("blocking.ti", *network, "--nonblocking", "MPI_Recv", "--json")
        self.assertIn("2 calls changed", result.stderr)
        expected = subprocess.run([FORETRACE, "simulate", "posted.ti", *network, "--json"], capture_output=True,
                                  text=True, timeout=100, cwd=self.folder, check=True)
        self.assertEqual(json.loads(result.stdout)["predicted_time"], json.loads(expected.stdout)["time"])

    def test_other_algorithm(self):
        (self.folder / "fields.ti").write_text(FIELDS)
        network = ["--loggps", "L=2us,o=3us,g=5us,G=0.1ns"]
        for algorithm in ("ring", "recursive_doubling", "reduce_bcast"):
            with self.subTest(algorithm=algorithm):
                result = self.explain("fields.ti", *network, "--collective", f"MPI_Allreduce={algorithm}", "--json")
                # There is one allreduce.
                forced = subprocess.run([FORETRACE, "simulate", "fields.ti", *network, "--collectives",
                                         f"openmpi,allreduce={algorithm}", "--json"], capture_output=True,
                                        text=True, timeout=100, cwd=self.folder, check=True)
                self.assertEqual(json.loads(result.stdout)["predicted_time"], json.loads(forced.stdout)["time"])

    def test_latencies(self):
        said = json.loads(self.explain("old.goal", *LOGGPS, "--latencies", "1us..100us", "--json").stdout)
        self.assertTrue(said["simulated"])
        points = said["latencies"]
        self.assertEqual(len(points), 20)
        self.assertAlmostEqual(points[0]["latency"], 1e-6, 12)
        self.assertAlmostEqual(points[-1]["latency"], 1e-4, 12)
        # One message is on the critical path: 100 us, o, L, 999 G, o, 50 us.
        for point in points:
            self.assertAlmostEqual(point["time"], 151.0999e-6 + point["latency"], 11)
        text = self.explain("old.goal", *LOGGPS, "--latencies", "1us..4us:3").stdout
        self.assertIn("2 us  153.1 us  +0.7 %      1", text)
        for words in (["1us"], ["0us..1us"], ["2us..1us"], ["1us..2us:1"], ["1..x"], ["1us..2us:3x"]):
            with self.subTest(words=words):
                self.assertIn("--latencies", self.explain("old.goal", *LOGGPS, "--latencies", *words, status=2).stderr)

    def test_better_algorithm(self):
        (self.folder / "fields.ti").write_text(FIELDS)
        network = ["--loggps", "L=2us,o=3us,g=5us,G=0.1ns", "--collectives", "openmpi,allreduce=reduce_bcast"]
        said = json.loads(self.explain("fields.ti", *network, "--json").stdout)
        found = [one for one in said["findings"] if one["kind"] == "algorithm" and one["function"] == "MPI_Allreduce"]
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["effort"], "setting")
        times = {}
        for algorithm in ("linear", "recursive_doubling", "ring", "segmented_ring", "rabenseifner",
                          "rabenseifner_split", "reduce_bcast"):
            words = ["--collective", f"MPI_Allreduce={algorithm}", "--json"]
            times[algorithm] = json.loads(self.explain("fields.ti", *network, *words).stdout)["predicted_time"]
        self.assertEqual(found[0]["predicted_time"], min(times.values()))
        self.assertEqual(times[found[0]["algorithm"]], min(times.values()))
        self.assertEqual(found[0]["check"], f"--collective MPI_Allreduce={found[0]['algorithm']}")

    def test_other_calls(self):
        """No barriers, messages sent as one, messages that are posted: where they bring something, and what."""
        barriers = "".join(f"{rank} compute 1e5\n{rank} barrier\n" for rank in (0, 1) for _ in range(10))
        many = "".join("0 send 1 3 100\n1 recv 0 3 100\n" for _ in range(10)) + "0 compute 1e6\n1 compute 1e6\n"
        # Large messages wait for their receivers.
        late = "0 send 1 1 100000\n0 compute 1e6\n0 barrier\n1 compute 5e5\n1 recv 0 1 100000\n1 barrier\n"
        for kind, calls, words, check in (
                ("no barriers", barriers, ["--machine", "sparc-ethernet"], "--remove-barriers"),
                ("merged messages", many, ["--machine", "cray-t3d"], "--merge-messages MPI_Send"),
                ("posted messages", late, [*LOGGPS[:-1], LOGGPS[-1] + ",S=1000"], "--nonblocking MPI_Send")):
            with self.subTest(kind=kind):
                (self.folder / "calls.ti").write_text("0 init\n1 init\n" + calls + "0 finalize\n1 finalize\n")
                said = json.loads(self.explain("calls.ti", *words, "--json").stdout)
                found = [one for one in said["findings"] if one["kind"] == kind and one["check"] == check]
                self.assertEqual(len(found), 1, said["findings"])
                self.assertEqual(found[0]["effort"], "calls")
                self.assertGreater(found[0]["gain"], 0.001 * said["time"])
                alone = json.loads(self.explain("calls.ti", *words, *check.split(), "--json").stdout)
                self.assertEqual(found[0]["predicted_time"], alone["predicted_time"])

    def test_faster_link(self):
        """A cable of 10 MB/s among others of 1 GB/s: by hand, what its message takes there and elsewhere."""
        links = "".join(f'[[link]]\nfrom = "{node}"\nto = "s, w"\nboth_ways = true\n{speed}' for node, speed in
                        (("a", ""), ("b", 'bandwidth = "10MB/s"\n'), ("c", "")))
        nodes = "".join(f'[[node]]\nname = "{node}"\n' for node in "abc") + '[[node]]\nname = "s, w"\nkind = "switch"\n'
        (self.folder / "cable.toml").write_text(
            f'[topology]\nname = "cable"\nbandwidth = "1GB/s"\nlatency = "1us"\n{nodes}{links}')
        (self.folder / "cable.goal").write_text(
            "num_ranks 3\nrank 0 { calc 50us; send 1000b to 1 }\nrank 1 { recv 1000b from 0 }\nrank 2 { calc 10us }\n")
        words = ["cable.goal", "--loggps", "o=0,g=0", "--network", "flow", "--topology", "cable.toml"]
        said = json.loads(self.explain(*words, "--json").stdout)
        self.assertAlmostEqual(said["time"], 50e-6 + 2e-6 + 100e-6, delta=1e-12)
        link = next(one for one in said["findings"] if one["kind"] == "faster link")
        self.assertEqual((link["link"], link["ranks"], link["effort"]), (["s, w", "b"], [], "machine"))
        self.assertAlmostEqual(link["predicted_time"], 50e-6 + 2e-6 + 1e-6, delta=1e-12)
        self.assertAlmostEqual(link["spent"], 100e-6, delta=1e-12)
        for names in ("b,s, w", "s, w,b"):
            asked = json.loads(self.explain(*words, "--faster-link", f"{names}=4", "--json").stdout)
            self.assertAlmostEqual(asked["predicted_time"], 50e-6 + 2e-6 + 25e-6, delta=1e-12)
        self.assertRegex(self.explain(*words).stdout, r"faster link +machine +link between s, w and b\n")
        # As in a file that says it, on every network; and a bus is one link.
        (self.folder / "mended.toml").write_text((self.folder / "cable.toml").read_text().replace("10MB/s", "40MB/s"))
        for network in ("flow", "packet", "hops"):
            for link, topology, mended in (("b,s, w=4", "cable.toml", "mended.toml"),
                                           ("0,bus=4", "bus:3?bandwidth=10MB/s&latency=1us", "bus:3?bandwidth=40MB/s&latency=1us")):
                with self.subTest(network=network, link=link):
                    on = [*words[:3], "--network", network, "--topology"]
                    asked = json.loads(self.explain(*on, topology, "--faster-link", link, "--json").stdout)
                    self.assertEqual(asked["predicted_time"], json.loads(self.explain(*on, mended, "--json").stdout)["time"])
                    self.assertLess(asked["predicted_time"], asked["time"])
        self.explain(*words, "-o", "before.json")
        (self.folder / "worse.toml").write_text((self.folder / "cable.toml").read_text().replace("10MB/s", "5MB/s"))
        worse = self.explain(*words[:-1], "worse.toml", "--baseline", "before.json", status=1)
        self.assertRegex(worse.stdout, r"99 us +199 us +\+100 us +faster link between s, w and b\n")
        # A link that only messages without bytes took is none to make faster.
        (self.folder / "empty.goal").write_text("num_ranks 3\nrank 0 { calc 50us; send 0b to 1 }\nrank 1 { recv 0b from 0 }\n")
        empty = json.loads(self.explain("empty.goal", *words[1:], "--json").stdout)
        self.assertNotIn("faster link", [one["kind"] for one in empty["findings"]])
        for wrong, told in (("a,b=2", "there is no link between these two"), ("a,x=2", "no such nodes"), ("a,b", "a factor above 0"),
                            ("a,b=0", "a factor above 0"), ("a,b=x", "a factor above 0")):
            self.assertIn(told, self.explain(*words, "--faster-link", wrong, status=2).stderr)
        self.assertIn("no link has a speed of its own", self.explain(*words[:3], "--faster-link", "a,b=2", status=2).stderr)

    def test_what_only_other_calls_use_is_told(self):
        lines = "rank 0 { calc 1us; repeat 300 { send 10000b to 1 } }\nrank 1 { repeat 300 { recv 10000b from 0 } }\n"
        (self.folder / "many.goal").write_text(f"num_ranks 2\n{lines}")
        words, check = ["many.goal", "--machine", "cray-t3d"], "--merge-messages MPI_Isend"
        told = "extrapolated, beyond what was measured: isend1 of 3000000 B, irecv2 of 3000000 B"
        self.assertEqual(json.loads(self.explain(*words, "--json").stdout)["notes"], [f"{check}: {told}"])
        self.assertIn(f"foretrace: {told}\n", self.explain(*words, *check.split()).stderr)

    def test_barriers_in_several_places(self):
        phases = "; ".join(f'phase "{name}" {{ calc 10us; wait; barrier }}' for name in "ab")
        (self.folder / "phases.goal").write_text(f"num_ranks 2\nrank all {{ {phases} }}\n")
        words = ["phases.goal", "--machine", "sparc-ethernet"]
        first, *others = json.loads(self.explain(*words, "--json").stdout)["findings"]
        self.assertEqual((first["kind"], first["elsewhere"]), ("no barriers", True))
        self.assertRegex(self.explain(*words).stdout, r"no barriers +calls +MPI_Barrier in phase [ab] and elsewhere")
        (self.folder / "phase.goal").write_text('num_ranks 2\nrank all { phase "a" { calc 10us; wait; barrier } }\n')
        alone = json.loads(self.explain("phase.goal", *words[1:], "--json", "--findings", "1").stdout)["findings"]
        self.assertEqual([(one["kind"], one["elsewhere"]) for one in alone], [("no barriers", False)])

    def test_delay_in_a_collective_of_messages(self):
        """Who waits in it for one that waited in it passes the blame on."""
        ranks = "".join(f"rank {rank} {{ calc {'500us' if rank == 5 else '200us'}; wait; allreduce 8b }}\n" for rank in range(16))
        (self.folder / "late.goal").write_text("num_ranks 16\n" + ranks)
        for algorithm in ("recursive_doubling", "ring", "reduce_bcast"):
            with self.subTest(algorithm=algorithm):
                words = ["late.goal", *LOGGPS, "--collectives", f"openmpi,allreduce={algorithm}"]
                delays = json.loads(self.explain(*words, "--json").stdout)["delays"]
                self.assertGreater(delays["waits"], 15 * 280e-6)
                self.assertLess(delays["unexplained"], 0.05 * delays["waits"])
                self.assertEqual(delays["costs"][0]["most"], 5)
                self.assertGreater(delays["costs"][0]["direct"] + delays["costs"][0]["indirect"], 0.9 * delays["waits"])

    def test_parameters_that_the_topology_has_instead(self):
        (self.folder / "pairs.goal").write_text(PAIRS)
        told = "L and G do nothing on links"
        for speeds, says in (("?latency=1us&bandwidth=1GB/s", True), ("", False)):
            words = ["pairs.goal", *LOGGPS, "--network", "flow", "--topology", "torus:6" + speeds]
            result = self.explain(*words, "--set", "G=0.05ns")
            self.assertEqual(told in result.stderr, says)
            self.assertEqual("+0.0 %" in result.stdout, says)
            self.assertNotIn(told, self.explain(*words, "--set", "o=1us").stderr)

    def test_nothing_brings_anything(self):
        (self.folder / "alone.ti").write_text("0 init\n0 compute 1e6\n0 finalize\n")
        self.assertIn("nothing that was tried shortens the run", self.explain("alone.ti", "--machine", "cray-t3d").stdout)
        self.explain("alone.ti", "--machine", "cray-t3d", "--findings", "0", status=2)

    def test_checks_of_findings(self):
        """The options that a finding names bring what it promises."""
        (self.folder / "fields.ti").write_text(FIELDS)
        for network in (["--loggps", "L=2us,o=3us,g=5us,G=0.1ns"], ["--machine", "cray-t3d"]):
            said = json.loads(self.explain("fields.ti", *network, "--json").stdout)
            checked = [one for one in said["findings"][:10] if one["check"] and not one["estimated"]]
            self.assertTrue(checked)
            for one in checked:
                alone = self.explain("fields.ti", *network, *one["check"].split(), "--json")
                self.assertEqual(json.loads(alone.stdout)["predicted_time"], one["predicted_time"], one["check"])

    def test_sensitivity_on_every_network(self):
        """L, o and G are always told; their slopes are the differences of fresh simulations."""
        (self.folder / "pairs.goal").write_text(PAIRS)
        ring = ["--topology", "torus:6"]
        networks = {"datasheet": ["--machine", "cray-t3d"], "loggps": LOGGPS,
                    **{name: [*LOGGPS, "--network", name, *ring] for name in ("hops", "bus", "flow", "packet")}}
        for network, words in networks.items():
            said = json.loads(self.explain("pairs.goal", *words, "--json").stdout)
            for name, step in (("L", "1ps"), ("o", "1ps"), ("G", "0.01ns")):
                with self.subTest(network=network, parameter=name):
                    one = said["sensitivity"][name]
                    # There the messages of this program are there before their receivers.
                    self.assertTrue(one["slope"] > 0 or network == "datasheet")
                    self.assertEqual(set(one["tolerance"]), {"1%", "5%", "10%"})
                    self.assertEqual("meaning" in one, network == "datasheet")
                    more = json.loads(self.explain("pairs.goal", *words, "--set", f"{name}=+{step}", "--json").stdout)
                    unit = 1e-11 if name == "G" else 1e-12
                    self.assertAlmostEqual((more["predicted_time"] - said["time"]) / unit, one["slope"],
                                           delta=max(0.01, 1e-6 * one["slope"]))
                    # What is told to make the run 10 % longer does, where nothing gets into the way.
                    if one["exact"]:
                        more = one["tolerance"]["10%"] - one["value"]
                        made = self.explain("pairs.goal", *words, "--set", f"{name}=+{more:.12g}s", "--json")
                        self.assertAlmostEqual(json.loads(made.stdout)["predicted_time"], 1.1 * said["time"], delta=1e-9)

    def test_links_with_speeds_of_their_own(self):
        """Instead of L and G it is told what all latencies, or all bandwidths, do; as simulate --sweep says."""
        (self.folder / "pairs.goal").write_text(PAIRS)
        for network in ("flow", "packet", "bus"):
            words = [*LOGGPS, "--network", network, "--topology", "torus:6?latency=2us&bandwidth=1GB/s"]
            said = json.loads(self.explain("pairs.goal", *words, "--json").stdout)
            self.assertEqual(set(said["sensitivity"]), {"o", "g", "link_latency", "link_bandwidth"})
            for name, sweep in (("link_latency", "latency=1.001"), ("link_bandwidth", f"bandwidth={1 / 1.001}")):
                with self.subTest(network=network, parameter=name):
                    one = said["sensitivity"][name]
                    self.assertGreater(one["slope"], 0)
                    swept = subprocess.run([FORETRACE, "simulate", "pairs.goal", *words, "--sweep", sweep, "--json"],
                                           capture_output=True, text=True, check=True, timeout=100, cwd=self.folder)
                    more = json.loads(swept.stdout)[0]["time"] - said["time"]
                    self.assertAlmostEqual(more / 1e-3, one["slope"], delta=1e-8)

    def test_latencies_far_from_what_they_are(self):
        """Two messages share a link for 4 ms: one of 1 us more is 0.025 % of that, by hand."""
        (self.folder / "node.goal").write_text("num_ranks 4\nrank 0..1 { send 2000000b to me+2 }\n"
                                               "rank 2..3 { recv 2000000b from me-2 }\n")
        words = ["--network", "flow", "--loggps", "L=0,o=0,g=0,G=0", "--topology",
                 "ring:4?latency=1us&bandwidth=1GB/s&ranks_per_node=2"]
        said = json.loads(self.explain("node.goal", *words, "--json").stdout)
        one = said["sensitivity"]["link_latency"]
        self.assertAlmostEqual(one["slope"], 1e-6, delta=1e-9)
        for share, expected in (("1%", 1 + 0.01 * said["time"] / 1e-6), ("10%", 1 + 0.1 * said["time"] / 1e-6)):
            self.assertAlmostEqual(one["tolerance"][share], expected, delta=0.1)

    def test_slack(self):
        """Rank 1 may post its receive later by so much, and by no nanosecond more."""
        told = self.explain("old.goal", *LOGGPS, "--slack", "slack.csv")
        self.assertEqual((told.stdout, told.stderr), ("", "foretrace: wrote slack.csv\n"))
        with (self.folder / "slack.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 8)
        slack, = [float(row["slack"]) for row in rows if (row["rank"], row["function"]) == ("1", "MPI_Irecv")]
        sent, = [float(row["slack"]) for row in rows if (row["rank"], row["function"]) == ("0", "MPI_Isend")]
        self.assertEqual(sent, 0)
        times = []
        for later in (0, int(slack * 1e9), int(slack * 1e9) + 2):
            (self.folder / "later.goal").write_text((GOAL % 50000).replace(
                "rank 1 { b: recv 1000b from 0", f"rank 1 {{ a: calc {later}\nb: recv 1000b from 0\nb requires a"))
            times.append(json.loads(self.explain("later.goal", *LOGGPS, "--json").stdout)["time"])
        self.assertEqual(times[0], times[1])
        self.assertGreater(times[2], times[1])
        self.assertIn("--slack stands alone", self.explain("old.goal", *LOGGPS, "--slack", "x.csv",
                                                           "--remove-barriers", status=2).stderr)

    def test_balance_of_nodes_and_rounds(self):
        (self.folder / "p.ti").write_text("".join(
            f"{rank} init\n{rank} compute {first}\n{rank} barrier\n{rank} compute {second}\n{rank} allreduce 8 0\n"
            f"{rank} finalize\n" for rank, first, second in ((0, 1e5, 2e5), (1, 3e5, 2e5), (2, 2e5, 3e5), (3, 2e5, 7e5))))
        words = ["p.ti", *LOGGPS, "--ranks-per-node", "2"]
        balance = json.loads(self.explain(*words, "--json").stdout)["balance"]
        nodes = balance["nodes"]
        # 300 and 500 us on the first, 500 and 900 on the second.
        self.assertEqual((nodes["count"], nodes["slowest"]), (2, 1))
        for name, us in (("mean", 550), ("most", 700), ("deviation", 150)):
            self.assertAlmostEqual(nodes[name], us * 1e-6, 12)
        self.assertEqual(balance["rounds"]["count"], 3)
        worst = balance["rounds"]["uneven"][0]
        self.assertEqual((worst["number"], worst["slowest"]), (1, 3))
        self.assertAlmostEqual(worst["most"] - worst["mean"], 350e-6, 12)
        together, = balance["together"]
        self.assertEqual([one["function"] for one in together["regions"]], ["MPI_Allreduce", "MPI_Barrier"])
        text = self.explain(*words).stdout
        for says in ("The best few balanced together", "Nodes: 2; their ranks compute for 550 us, those of node 1 for "
                     "700 us", "the most uneven of 3", "The longest waits"):
            self.assertIn(says, text)

    def test_additions_to_equations(self):
        """On the data sheet L, o and G can only be added."""
        (self.folder / "fields.ti").write_text(FIELDS)
        machine = ["--machine", "cray-t3d"]
        for words, says in (("L=1us", "have no L, o and G of their own; L=+1us"), ("g=+1us", "are for --network loggps"),
                            ("S=100", "are for --network loggps"), ("L=+x", "L must be a time")):
            self.assertIn(says, self.explain("fields.ti", *machine, "--set", words, status=2).stderr)
        curve = json.loads(self.explain("fields.ti", *machine, "--latencies", "1us..8us:4", "--json").stdout)
        self.assertTrue(curve["added"])
        for point in curve["latencies"]:
            alone = self.explain("fields.ti", *machine, "--set", f"L=+{point['latency']:.12g}s", "--json")
            self.assertEqual(json.loads(alone.stdout)["predicted_time"], point["time"])

    def test_refused_changes(self):
        (self.folder / "fields.ti").write_text(FIELDS)
        for words, says in ((["--collective", "MPI_Allreduce=best"], "there is for allreduce: linear, recursive_doubling"),
                            (["--collective", "MPI_Allreduce"], "expected SITE=ALGORITHM"),
                            (["--collective", "MPI_Send=ring"], "there is no collective"),
                            (["--merge-messages", "halo.c:3"], "--merge-messages halo.c:3: the run has no such"),
                            (["--nonblocking", "MPI_Bcast"], "it has MPI_"),
                            (["--set", "Q=1us"], "--set 'Q=1us': unknown parameter 'Q'"),
                            (["--collectives", "equation", "--collective", "MPI_Allreduce=ring"], "--collectives algorithm")):
            with self.subTest(words=words):
                self.assertIn(says, self.explain("fields.ti", *LOGGPS, *words, status=2).stderr)

    def test_damaged_baseline(self):
        for text in ("", "{", "[]", '{"time": 1}', '{"time": "x"}'):
            with self.subTest(text=text):
                (self.folder / "bad.json").write_text(text)
                says = self.explain("old.goal", *LOGGPS, "--baseline", "bad.json", status=1).stderr
                self.assertRegex(says, r"bad\.json: expected what foretrace explain --json prints, found (no|other) JSON\n")
        self.assertIn("none.json", self.explain("old.goal", *LOGGPS, "--baseline", "none.json", status=1).stderr)


if __name__ == "__main__":
    FORETRACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.argv.pop(1)
    unittest.main()
