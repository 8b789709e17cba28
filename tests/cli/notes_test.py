"""What is said of a predicted time goes where the time goes: traces, results, what is made of them.

    notes_test.py FORETRACE SOURCE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

MACHINE = """\
[machine]
name = "sends alone"
time_unit = "us"
[[function]]
name = "send"
class = "point-to-point"
[[function.regime]]
c = 1.0
k = 0.001
g = "d"
"""
NOTE = "not in the machine model, and nothing stands in, so these take no time: barrier"
REDUCTIONS = "reductions that the machine model lacks: sum_double (takes no time)"
POSTED = 'foretrace-trace 1\ninfo {"ranks":2,"clock":"cpu","program":"p","origin":"record"}\n' + "".join(f"""\
rank {rank}
name "MPI_Init"
init MPI_Init
name "MPI_Iallreduce"
comm 0 0 1
icollective MPI_Iallreduce request=1 collective=allreduce bytes=800
name "MPI_Wait"
complete MPI_Wait done=1
name "MPI_Finalize"
finalize MPI_Finalize
""" for rank in range(2))
STUDY = """[parameters]
p = [1, 2, 3, 4, 5, 6]
[ways.model]
file = "x.model"
machine = "m.toml"
at = "p={p}"
[ways.plain]
kind = "model"
file = "y.model"
at = "p={p}"
"""


def program(ranks):
    """A message, then a barrier."""
    lines = [f"{r} init" for r in range(ranks)] + ["0 send 1 0 100", "1 recv 0 0 100"]
    return "\n".join(lines + [f"{r} {what}" for what in ("barrier", "finalize") for r in range(ranks)]) + "\n"


class Notes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("m.toml", MACHINE), ("p.ti", program(2)), ("s.toml", STUDY),
                           ("x.model", "total(p) = p / 1000 + T_barrier(p)\n"), ("y.model", "total(p) = p / 1000\n")):
            (self.folder / name).write_text(text)

    def foretrace(self, *words, status=0):
        result = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True, timeout=100, cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result

    def simulate(self, name, *words, program="p.ti"):
        return self.foretrace("simulate", program, "--machine", "m.toml", "-o", name, *words)

    def json(self, *words):
        return json.loads(self.foretrace(*words, "--json").stdout)

    def test_a_trace_keeps_them(self):
        self.assertIn("foretrace: " + NOTE + "\n", self.simulate("p.ftr").stderr)
        told = json.loads(self.simulate("q.ftr", "--json").stdout)
        self.assertEqual(told["notes"], [NOTE])
        self.foretrace("convert", "p.ftr", "p.txt")
        self.foretrace("convert", "p.txt", "r.ftr")
        for trace in ("p.ftr", "q.ftr", "r.ftr"):
            with self.subTest(trace=trace):
                report = self.foretrace("report", trace).stdout
                self.assertIn(f"note: {NOTE}\n", report)
                self.assertNotIn("barrier", report[report.index("\ntrace "):].splitlines()[1])
                told = self.json("report", trace)
                self.assertEqual(told["notes"], [NOTE])
                self.assertNotIn("barrier", told["options"])
                self.assertIn(f"note: {NOTE}\n", self.foretrace("timeline", trace).stdout)
        self.assertEqual((self.folder / "p.ftr").read_bytes(), (self.folder / "r.ftr").read_bytes())
        self.foretrace("report", "p.ftr", "-o", "p.html")
        for page in ("p.html", "p-timeline.html"):
            self.assertIn(NOTE, (self.folder / page).read_text())

    def test_another_machine_has_its_own(self):
        self.simulate("p.ftr")
        (self.folder / "m.toml").write_text(MACHINE + MACHINE[MACHINE.index("[[function]]"):].replace(
            '"send"', '"barrier"').replace("point-to-point", "collective"))
        again = self.simulate("again.ftr", program="p.ftr")
        self.assertNotIn("barrier", again.stderr)
        self.assertEqual(self.json("report", "again.ftr")["notes"], [])

    def test_what_is_made_of_traces(self):
        self.simulate("p.ftr")
        both = self.foretrace("compare", "p.ftr", "p.ftr").stdout
        for side in "AB":
            self.assertIn(f"note: {side}: {NOTE}\n", both)
        self.assertEqual(self.json("compare", "p.ftr", "p.ftr")["a"]["notes"], [NOTE])
        groups = self.json("compare", "p.ftr", "p.ftr", "--against", "p.ftr", "p.ftr")
        self.assertEqual([run["notes"] for run in groups["b"]], [[NOTE], [NOTE]])
        based = self.foretrace("simulate", "p.ti", "--loggps", "L=1us", "--baseline", "p.ftr")
        self.assertIn(f"foretrace: p.ftr: {NOTE}\n", based.stderr)
        (self.folder / "e.json").write_text(self.foretrace("explain", "p.ftr", "--machine", "m.toml", "--json").stdout)
        words = ["explain", "p.ftr", "--machine", "m.toml", "--baseline", "e.json"]
        against = self.foretrace(*words).stdout
        self.assertIn(f"note: before: {NOTE}\nnote: now: {NOTE}\n", against)
        told = self.json(*words)
        self.assertEqual((told["baseline_notes"], told["notes"]), ([NOTE], [NOTE]))
        self.foretrace("explain", "p.ftr", "--machine", "m.toml", "--set", "L=1us", "--network", "loggps",
                       "--collectives", "equation", "-o", "what.ftr")
        self.assertEqual(self.json("report", "what.ftr")["notes"], [NOTE])
        sweep = self.json("simulate", "p.ti", "--machine", "m.toml", "--network", "loggps", "--collectives", "equation",
                          "--sweep", "latency=1,2")
        self.assertEqual([run["notes"] for run in sweep], [[NOTE], [NOTE]])

    def test_laws_of_traces(self):
        files = []
        for ranks in (2, 3, 4, 5, 6):
            (self.folder / f"p{ranks}.ti").write_text(program(ranks))
            files.append(f"p{ranks}.ftr")
            self.simulate(files[-1], program=f"p{ranks}.ti")
        self.assertIn(f"all runs: {NOTE}\n", self.foretrace("fit", *files, "--at", "p=64").stdout)
        self.assertIn("there are runs of 1 number of ranks; 5 at least are needed",
                      self.foretrace("fit", files[0], "--at", "p=64", status=1).stderr)
        self.assertIn(f"all runs: {NOTE}", self.json("fit", *files, "--at", "p=64")["notes"])

    def test_laws_of_several_programs(self):
        files = []
        for ranks in (2, 3, 4, 5, 6):
            (self.folder / "p.ti").write_text(program(ranks))
            files.append(f"q{ranks}.ftr")
            self.simulate(files[-1])
        self.assertNotIn("program:", self.foretrace("fit", *files, "--at", "p=64").stdout)
        (self.folder / "other.ti").write_text(program(6))
        self.simulate(files[-1], program="other.ti")
        note = "the runs are not of one program: p.ti (4 runs), other.ti (1 run)"
        self.assertIn(f"\n{note}\n", self.foretrace("fit", *files, "--at", "p=64").stdout)
        self.assertIn(note, self.json("fit", *files, "--at", "p=64")["notes"])

    def test_results_of_studies(self):
        self.foretrace("study", "s.toml", "-o", "r.db")
        model = json.loads(self.foretrace("model", "x.model", "--machine", "m.toml", "--at", "p=1", "--json").stdout)
        self.assertIn(NOTE, model["notes"])
        table = self.foretrace("results", "r.db").stdout
        self.assertEqual(table.count(NOTE), 1)
        self.assertIn(f"\nnote: {NOTE}\n", table)
        self.assertNotIn(NOTE, self.foretrace("results", "r.db", "--where", 'way = "plain"').stdout)
        self.assertIn(f"\nnote: {NOTE}\n", self.foretrace("results", "r.db", "--launches").stdout)
        rows = self.json("results", "r.db")
        self.assertEqual([row.get("notes") for row in rows if row["way"] == "model"], [NOTE] * 6)
        self.assertEqual({row.get("notes") for row in rows if row["way"] == "plain"}, {None})
        self.assertEqual(self.foretrace("results", "r.db", "--csv").stdout.count(NOTE), 6)
        compared = ["results", "r.db", "--compare", "model,plain"]
        self.assertIn(f"\nnote: model: {NOTE}\n", self.foretrace(*compared).stdout)
        told = self.json(*compared)
        self.assertEqual((told["notes_a"], told["notes_b"]), ([NOTE], []))
        self.foretrace("results", "r.db", "-o", "r.html")
        self.assertEqual((self.folder / "r.html").read_text().count(NOTE), 1)
        laws = self.json("fit", "r.db", "--at", "p=64")
        self.assertEqual(sorted(law["notes"] for law in laws), [[], [NOTE]])
        self.assertEqual(self.foretrace("fit", "r.db", "--at", "p=64").stdout.count(f"note: {NOTE}\n"), 1)

    def test_reductions_that_combine_for_nothing(self):
        """As messages alone; not where the model or an option says what combining takes."""
        (self.folder / "p.goal").write_text("num_ranks 2\nrank 0 { allreduce 8000b }\n"
                                            "rank 1 { allreduce 8000b }\n")
        words = ["simulate", "p.goal", "--machine", "m.toml", "--network", "loggps", "--loggps", "L=1us"]
        self.assertIn(f"foretrace: {REDUCTIONS}\n", self.foretrace(*words).stderr)
        self.assertNotIn("reductions", self.foretrace(*words, "--reduction", "0ns").stderr)
        self.assertNotIn("reductions", self.foretrace(*words, "--collectives", "equation").stderr)
        alone = [word for word in words if word not in ("--machine", "m.toml")]
        free = "foretrace: not given and taken as 0: --reduction 0s\n"
        self.assertIn(free, self.foretrace(*alone).stderr)
        self.assertNotIn(free, self.foretrace(*alone, "--reduction", "0ns").stderr)
        (self.folder / "m.toml").write_text(MACHINE + '[reduction]\nsum_double = "0.1ns"\n')
        self.assertNotIn("reductions", self.foretrace(*words).stderr)

    def test_posted_collectives_without_a_model(self):
        """As messages they take as long as those; by equations, no time."""
        (self.folder / "p.txt").write_text(POSTED)
        self.foretrace("convert", "p.txt", "p.ftr")
        words = ["simulate", "p.ftr", "--compute", "none", "--network", "loggps", "--loggps", "L=5us,os=2us,or=3us,g=4us,G=10ns"]
        # To rank 0 and back: 2 + 5 + 799 * 0.01 + 3 us, twice
        self.assertIn("predicted time 3.598e-05 s on 2 ranks", self.foretrace(*words).stdout)
        self.assertNotIn("take no time", self.foretrace("explain", *words[1:]).stderr)
        words += ["--collectives", "equation"]
        missing = NOTE.replace("barrier", "allreduce")
        run = self.foretrace(*words, "-o", "q.ftr")
        self.assertEqual(run.stderr, f"foretrace: {missing}\n")
        self.assertIn("predicted time 0 s on 2 ranks", run.stdout)
        self.assertEqual(self.json("report", "q.ftr")["notes"], [missing])
        self.assertEqual(self.json(*words)["notes"], [missing])

    def test_counts_that_a_format_has_no_place_for(self):
        trace = POSTED.replace("icollective MPI_Iallreduce request=1 collective=allreduce bytes=800",
                               "collective MPI_Iallreduce collective=allgatherv bytes=800 counts=100,1500")
        (self.folder / "c.txt").write_text(trace.replace('name "MPI_Wait"\ncomplete MPI_Wait done=1\n', ""))
        self.foretrace("convert", "c.txt", "c.ftr")
        self.assertIn("no place for the counts of 2 calls", self.foretrace("convert", "c.ftr", "c.otf2").stderr)
        (self.folder / "p.txt").write_text(POSTED)
        self.foretrace("convert", "p.txt", "p2.ftr")
        self.assertNotIn("counts", self.foretrace("convert", "p2.ftr", "p2.otf2").stderr)

    def test_bounds_of_equations_without_errors(self):
        """Both ends are the middle: said, and kept."""
        note = "--bound max is as avg: no equation of sends alone has an error"
        self.assertIn(f"foretrace: {note}\n", self.simulate("p.ftr", "--bound", "max").stderr)
        self.assertIn(note, self.json("report", "p.ftr")["notes"])
        self.assertNotIn("--bound", self.simulate("p.ftr", "--bound", "avg").stderr)
        for term in ("c = [1.0, 0.1]\nk", "c = 1.0\nk = [0.001, 0.0001] #"):
            (self.folder / "m.toml").write_text(MACHINE.replace("c = 1.0\nk", term))
            self.assertNotIn("--bound", self.simulate("p.ftr", "--bound", "max").stderr)


if __name__ == "__main__":
    FORETRACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.argv.pop(1)
    unittest.main()
