"""What explain writes, and how it compares with an earlier run.

    explain_test.py FORETRACE SOURCE
"""

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
LOGGPS = ["--loggps", "L=2us,o=500ns,g=100ns,G=0.1ns"]


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

    def test_files(self):
        for file in ("out.json", "out.txt"):
            with self.subTest(file=file):
                result = self.explain("old.goal", *LOGGPS, "-o", file)
                self.assertEqual((result.stdout, result.stderr), ("", f"foretrace: wrote {file}\n"))
        printed = self.explain("old.goal", *LOGGPS, "--json").stdout
        self.assertEqual((self.folder / "out.json").read_text(), printed)
        self.assertEqual((self.folder / "out.txt").read_text(), self.explain("old.goal", *LOGGPS).stdout)

    def test_endings(self):
        for words, says in ((["-o", "x.pdf"], ".html, .json or .txt"),
                            (["-o", "x.ftr"], ".html, .json or .txt"),
                            (["--zero-wait", "MPI_Wait", "-o", "x.html"], "this writes a trace"),
                            (["--baseline", "old.json", "--within", "much"], "--within: expected a share"),
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

    def test_damaged_baseline(self):
        for text in ("", "{", "[]", '{"time": 1}', '{"time": "x"}'):
            with self.subTest(text=text):
                (self.folder / "bad.json").write_text(text)
                says = self.explain("old.goal", *LOGGPS, "--baseline", "bad.json", status=1).stderr
                self.assertIn("bad.json: expected what foretrace explain --json prints", says)
        self.assertIn("none.json", self.explain("old.goal", *LOGGPS, "--baseline", "none.json", status=1).stderr)


if __name__ == "__main__":
    FORETRACE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.argv.pop(1)
    unittest.main()
