"""Graphs of results, and the thesis's text format, through the command line.

    results_test.py FORETRACE SOURCE
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STUDY = """[parameters]
p = [1, 2, 4]
n = [8, 32]
[ways.model]
file = "x.model"
at = "p={p},n={n}"
"""
# By hand: n / p s, and half as long.
SLOW = "# 1 8\nwork 8\nall 8\n# 2 8\nwork 4\nall 4\n# 1 32\nwork 32\nall 32\n# 2 32\nwork 16\nall 16\n"
FAST = "# 1 8\nwork 4\nall 4\n# 2 8\nwork 2\nall 2\n# 1 32\nwork 16\nall 16\n# 2 32\nwork 8\nall 8\n"


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("slow.graph", SLOW), ("fast.graph", FAST), ("s.toml", STUDY),
                           ("x.model", "total(p, n) = n / p\n")):
            (self.folder / name).write_text(text)

    def foretrace(self, *words, status=0):
        result = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True, timeout=100, cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result

    def written(self, name, *words):
        self.foretrace("results", *words, "-o", name)
        return (self.folder / name).read_bytes()

    def test_a_graph_file_is_read_as_a_database_is(self):
        rows = json.loads(self.foretrace("results", "slow.graph", "--where", "ndata > 8", "--json").stdout)
        self.assertEqual([(row["ranks"], row["ndata"], row["time"], row["phase_work"]) for row in rows],
                         [(1, 32, 32, 32), (2, 32, 16, 16)])
        self.assertIn(b"run time", self.written("page.html", "slow.graph"))
        ratio = json.loads(self.foretrace("results", "slow.graph", "fast.graph", "--json").stdout)
        self.assertEqual(ratio["quantities"]["time"]["mean_ratio"], 0.5)
        self.assertEqual(len(ratio["quantities"]["phase_work"]["points"]), 4)

    def test_surfaces_in_all_forms(self):
        self.foretrace("study", "s.toml", "-o", "r.db")
        over = ["r.db", "--over", "p,n"]
        self.assertEqual(self.written("a.svg", *over).count(b"<polygon class=\"cell\""), 2 + 6 + 5)
        self.assertEqual(self.written("a.svg", *over), self.written("b.svg", *over))
        self.assertTrue(self.written("a.pdf", *over).startswith(b"%PDF-1.4"))
        self.assertIn(b"1 8 8\n2 8 4\n4 8 2\n\n1 32 32\n", self.written("a.gp", *over))
        self.assertIn(b"svg.turns", self.written("a.html", *over))

    def test_the_ratio_of_two_surfaces(self):
        both = ["slow.graph", "fast.graph"]
        self.assertIn(b"1 8 0.5\n2 8 0.5\n\n1 32 0.5\n2 32 0.5\n", self.written("a.gp", *both))
        self.assertIn(b"fast.graph / slow.graph", self.written("a.html", *both))
        self.assertEqual(self.written("a.pdf", *both)[-6:], b"%%EOF\n")
        self.assertIn(b"time,1,8,8,4,0.5", self.written("a.csv", *both))

    def test_writes_the_format(self):
        again = self.written("again.graph", "slow.graph", "--over", "ranks,ndata").decode()
        self.assertEqual(again, "".join(f"# {p} {n}\nwork {n // p}\ntotal {n // p}\n" for p in (1, 2) for n in (8, 32)))

    def test_is_fitted(self):
        # 8 / p + p / 100 by hand: 0.765 at 64.
        (self.folder / "f.graph").write_text("".join(f"# {p} 1\nall {8 / p + 0.01 * p}\n" for p in (1, 2, 4, 8, 16, 32)))
        law = json.loads(self.foretrace("fit", "f.graph", "--at", "ranks=64", "--json").stdout)
        self.assertAlmostEqual(law["value"], 0.765, 6)

    def test_distributions(self):
        (self.folder / "many.graph").write_text("".join(f"# 2 8\nall {time}\n" for time in (3, 1, 2)))
        self.assertIn(b"2 1\n2 2\n2 3\nEND", self.written("a.gp", "many.graph", "--launches"))
        self.assertEqual(self.written("a.svg", "many.graph", "--launches").count(b"<circle"), 3)
        self.assertIn(b"From launch to launch", self.written("a.html", "many.graph"))
        self.foretrace("results", "slow.graph", "--launches", "-o", "b.svg", status=2)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_gnuplot_draws_the_scripts(self):
        (self.folder / "many.graph").write_text("".join(f"# {p} 8\nall {time}\n" for p in (2, 4) for time in (3, 1, 2)))
        for words in (["slow.graph", "--over", "ranks,ndata"], ["slow.graph", "fast.graph"], ["slow.graph"],
                      ["many.graph", "--launches"]):
            with self.subTest(words=words):
                self.written("a.gp", *words)
                done = subprocess.run(["gnuplot", "a.gp"], cwd=self.folder, capture_output=True, text=True, timeout=100)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("<svg", (self.folder / "a.svg").read_text())

    def test_says_what_is_wrong(self):
        (self.folder / "bad.graph").write_text("# 1 8\nall 1\n# 2\nall 1\n")
        told = self.foretrace("results", "bad.graph", status=1).stderr
        self.assertIn("bad.graph:3: expected '# <nprocs> <ndata>'", told)
        for words in (["--over", "ranks"], ["--over", "ranks,ranks"], ["--over", "ranks,ndata"], ["-o", "x.png"],
                      ["--over", "ranks,x", "-o", "x.svg"], ["--json", "-o", "x.svg"]):
            self.foretrace("results", "slow.graph", *words, status=2)
        self.foretrace("results", "none.graph", status=1)
        self.assertEqual(sorted(path.name for path in self.folder.glob("x.*")), ["x.model"])


if __name__ == "__main__":
    FORETRACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    del sys.argv[1]
    unittest.main()
