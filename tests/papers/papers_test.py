"""The parts of tools/papers that need no runs of programs.

    papers_test.py SOURCE FORETRACE
"""

import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

SOURCE, TOOL = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tools/papers"))
import chapter4  # noqa: E402
import draw  # noqa: E402
import judge  # noqa: E402
import page as pages  # noqa: E402
import workshop  # noqa: E402

PRINTED = tomllib.loads((SOURCE / "tools/papers/printed.toml").read_text())


class Judge(unittest.TestCase):
    def test_numbers(self):
        for here, printed, word in ((1.0, 1.05, "agrees"), (1.0, 1.5, "near"), (1.0, 2.5, "differs"), (0, 1.0, "differs")):
            sentence, verdict = judge.compared("It", here, printed)
            self.assertEqual(verdict, word, sentence)
        self.assertIn("here 1 s, printed 2.5 s: differs by a factor of 2.5", judge.compared("It", 1.0, 2.5)[0])

    def test_shapes(self):
        bath = {1: 8.0, 2: 5.0, 4: 4.0, 8: 6.0}
        steep = {1: 8.0, 2: 4.0, 4: 2.0}
        slow = {1: 1.0, 2: 1.5, 4: 3.0}
        for claim, times, value, word in (
                ("best", bath, 4, "agrees"), ("best", bath, 8, "differs"), ("slower", slow, None, "agrees"),
                ("slower", bath, None, "differs"), ("grows", steep, None, "agrees"), ("grows", bath, None, "differs"),
                ("at_most", bath, 2, "agrees"), ("at_most", steep, 2, "differs"), ("flat", slow, 1, "agrees")):
            self.assertEqual(judge.shape(claim, times, value)[1], word, (claim, times))
        with self.assertRaises(ValueError):
            judge.shape("nonsense", bath)


class Drawings(unittest.TestCase):
    def test_lines_have_every_point(self):
        svg = draw.lines([("a", [(1, 1.0), (2, 10.0)], False), ("a", [(1, 2.0)], True)], "time")
        self.assertEqual(svg.count("<circle"), 3)
        self.assertEqual(svg.count("stroke-dasharray"), 1)
        self.assertEqual(svg.count("<i "), 1)  # one name, one colour
        self.assertIn("Nothing", draw.lines([], "time"))

    def test_timeline_of_text(self):
        drawn = ("2 ranks, 1 ms; a column is 250 us\n    0 s\n    |--\n  0 ##.c\n  1 ##\nAll ##.c\n\n"
                 "# computing  . waiting  c collective\n")
        svg = draw.timeline(drawn)
        self.assertEqual(svg.count("<rect"), 3 + 1 + 3)
        for word in ("computing", "waiting", "collective", "a column is 250 us"):
            self.assertIn(word, svg)

    def test_pictures(self):
        for pnm in (b"P5\n2 1\n255\n\x00\xff", b"P2\n2 1\n1\n0 1\n", b"P6\n1 1\n255\n\x01\x02\x03"):
            self.assertIn("data:image/png;base64,iVBOR", draw.picture(pnm))

    def test_page_counts_verdicts_and_escapes(self):
        page = pages.Page()
        page.figure("<1>", ["x"], "says", [("yes.", "agrees"), ("no.", "differs")])
        page.missing("2", "lost")
        text = page.text("about")
        self.assertIn("2 comparisons with numbers and statements of the papers: 1 agree, 0 are within a factor of two, 1 differ.",
                      text)
        self.assertIn("&lt;1&gt;", text)
        self.assertNotIn("http", text)


class Printed(unittest.TestCase):
    def test_every_figure_is_known(self):
        numbers = [entry["number"] for entry in PRINTED["figure"]]
        self.assertEqual(sorted(set(numbers)), sorted(numbers))
        self.assertEqual(set(numbers), {f"4.{i}" for i in range(8, 44)} - {"4.37"})
        self.assertEqual(len(PRINTED["programs"]), 14)

    def test_every_claim_is_judged(self):
        """With the real models; no program is run."""
        with tempfile.TemporaryDirectory() as folder:
            shop = workshop.Workshop(TOOL.parents[1], pathlib.Path(folder), "openmpi")
            judged = 0
            for entry in PRINTED["figure"]:
                program = PRINTED["programs"][entry["program"]]
                for claim in entry.get("claims", []):
                    times = chapter4.model_alone(shop, entry, program, program["sizes"][-1], claim.get("c", program["c"]),
                                                 claim.get("at", ""))
                    self.assertEqual(min(times), 1)
                    self.assertIn(judge.shape(claim["claim"], times, claim.get("value"))[1], ("agrees", "differs"))
                    judged += 1
            self.assertGreater(judged, 15)

    def test_wrong_use(self):
        for words in (["--only", "9"], ["--build", "/nowhere"]):
            done = subprocess.run([sys.executable, SOURCE / "tools/papers/make_papers", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
