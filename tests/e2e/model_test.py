#!/usr/bin/env python3
"""Analytical models through the command line, and beside what predict says of the programs."""

import json
import unittest

import harness
from harness import T3D


def model(*words):
    return harness.foretrace("model", *words)


def model_json(*words):
    result = model(*words, "--json")
    assert result.status == 0, result
    return json.loads(result.out)


class Model(harness.TestCase):
    def predicted_phases(self, ranks, *program):
        trace = self.directory / "p.ftr"
        result = harness.foretrace("predict", "-n", ranks, "--machine", T3D, "--compute", "annotated", "-o",
                                   trace, "--", harness.paper_program(program[0]), *program[1:], limit=120)
        self.assertEqual(result.status, 0, result)
        report = harness.foretrace("report", trace, "--json")
        return {phase["name"]: phase["time"] for phase in json.loads(report.out)["phases"]}

    def test_life_communicates_as_predicted(self):
        """Send, send, receive, receive: model and prediction agree to the picosecond."""
        for ranks in (2, 8):
            predicted = self.predicted_phases(ranks, "life", "--rows", 128, "--cols", 128, "--cell-bytes", 8)
            phases = model_json("life", "--machine", T3D, "--at", f"p={ranks},d=128")["phases"]
            self.assertAlmostEqual(phases["exchange"]["avg"], predicted["exchange"], delta=1e-12)
            self.assertAlmostEqual(phases["compute"]["avg"], predicted["compute"], delta=1e-12)

    def test_vecdiff_reduces_one_number_where_the_thesis_has_two(self):
        """allreduce of d > 32 elements or fewer: the difference is that of the sizes alone."""
        predicted = self.predicted_phases(8, "vecdiff")
        phases = model_json("vecdiff", "--machine", T3D, "--at", "p=8,c=1us")["phases"]
        calc = [json.loads(harness.foretrace("calc", T3D, "allreduce", "--ranks", 8, "--bytes", size,
                                             "--json").out)["avg"] for size in (8, 16)]
        self.assertAlmostEqual(phases["globalmax"]["avg"] - predicted["reduce"], calc[1] - calc[0], delta=1e-12)
        self.assertAlmostEqual(phases["localmax"]["avg"], predicted["compute"], delta=1e-12)

    def test_product_replicates_as_predicted(self):
        predicted = self.predicted_phases(8, "product")  # 256 rows: 2.5 x 102.4
        phases = model_json("product", "--machine", T3D, "--at", "p=8,d=102.4,c=1us")["phases"]
        self.assertAlmostEqual(phases["replicate"]["avg"], predicted["replicate"], delta=1e-12)
        self.assertAlmostEqual(phases["compute"]["avg"], predicted["compute"], delta=1e-12)


class CommandLine(harness.TestCase):
    def write(self, text):
        path = self.directory / "own.model"
        path.write_text(text)
        return path

    def test_phases_add_up(self):
        path = self.write("compute(p,n) = n/p*1e-6\ntotal(p,n) = compute(p,n) + 2*T_bcast(p,n)\n")
        answer = model_json(path, "--machine", T3D, "--at", "p=8,n=1000")
        self.assertEqual(answer["at"], {"n": 1000, "p": 8})
        # 1000 / 8 us; bcast of 125 elements: 100 + 2 p + 0.2 ln p d us.
        self.assertAlmostEqual(answer["phases"]["compute"]["avg"], 125e-6, delta=1e-15)
        self.assertAlmostEqual(answer["phases"]["2*T_bcast(p, n)"]["avg"],
                               2 * (100 + 16 + 0.2 * 2.0794415416798357 * 125) * 1e-6, delta=1e-12)
        for bound in ("min", "avg", "max"):
            self.assertAlmostEqual(answer["total"][bound],
                                   sum(phase[bound] for phase in answer["phases"].values()), delta=1e-15)

    def test_sweeps_and_draws(self):
        for name, begins in (("s.html", "<!"), ("s.svg", "<svg"), ("s.gp", "# gnuplot s.gp"),
                             ("s.csv", "p,total_min")):
            result = model("life", "--machine", T3D, "--sweep", "p=1..64", "-o", self.directory / name)
            self.assertEqual(result.status, 0, result)
            self.assertTrue((self.directory / name).read_text().startswith(begins), name)
        page = self.directory / "two.html"
        result = model("life", "--machine", T3D, "--sweep", "p=1..64", "--sweep", "d=64,128", "-o", page)
        self.assertEqual(result.status, 0, result)
        self.assertIn("Two parameters", page.read_text())
        self.assertNotIn("http://", page.read_text().replace("http://www.w3.org", ""))
        points = model_json("mandel", "--machine", "sparc-ethernet", "--at", "c=0.1us", "--sweep", "p=1..16")
        self.assertEqual(max(points, key=lambda point: point["speedup"])["at"]["p"], 8)

    def test_says_what_is_wrong(self):
        path = self.write("total(p) = n*p\n")
        broken = self.directory / "broken.model"
        broken.write_text("a = 1\nb = (2\n")
        for words, status, text in (
                ((path, "--at", "p=1"), 2, "'n' has no value"),
                ((path, "--at", "p=1,n=1,q=2"), 2, "has no parameter 'q'"),
                ((path, "--at", "p"), 2, "expected NAME=VALUE"),
                ((path, "--at", "p=x"), 2, "'x' is no number"),
                ((path, "--at", "p=1", "--sweep", "p=1..4"), 2, "in --at and in --sweep"),
                ((broken, "--at", "p=1"), 1, "broken.model:2: expected ')'"),
                (("life", "--at", "p=8"), 2, "say which with --machine"),
                (("lief", "--at", "p=8"), 2, "did you mean 'life'"),
                ((path, "--at", "p=1,n=1", "-o", self.directory / "x.pdf"), 2, ".pdf")):
            result = model(*words)
            self.assertEqual(result.status, status, result)
            self.assertIn(text, result.err)
            self.assertEqual(result.out, "")


class Fit(harness.TestCase):
    def test_extrapolates_a_study_of_a_model(self):
        """The model is known: 1e-3 n log2(p) + 2 is what the fit has to find again."""
        path = self.write("own.model", "total(p,n) = 2 + 1e-3*n*log(p)/log(2.0)\n")
        study = self.write("s.toml", "[parameters]\np = {from = 2, to = 64, factor = 2}\nn = [100, 200]\n"
                           f"[ways.model]\nfile = '{path}'\nat = 'p={{p}},n={{n}}'\n")
        self.foretrace("study", study, "-o", self.directory / "r.db")
        laws = json.loads(self.foretrace("fit", self.directory / "r.db", "--metric", "time", "--at", "p=1024",
                                         "--json").out)
        self.assertEqual([law["of"]["n"] for law in laws], ["200", "100"])  # the longest first
        self.assertAlmostEqual(laws[0]["value"], 4, delta=0.01)
        self.assertLessEqual(laws[0]["interval"][0], 4)
        self.assertGreaterEqual(laws[0]["interval"][1], 4)
        one = json.loads(self.foretrace("fit", self.directory / "r.db", "--at", "p=1024", "--where", "n = 100",
                                        "--json").out)
        self.assertTrue(one["identifiable"])
        for words, status, text in ((("--at", "p=8", "--metric", "nonsense"), 2, "is no quantity"),
                                    (("--at", "q=8"), 2, "there is no column 'q'"),
                                    (("--at", "n=8"), 1, "different values")):
            result = harness.foretrace("fit", self.directory / "r.db", *words)
            self.assertEqual(result.status, status, result)
            self.assertIn(text, result.err)


if __name__ == "__main__":
    harness.main()
