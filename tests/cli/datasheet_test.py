"""Every number of a data sheet again, computed here from the samples and asked of `calc`.

    datasheet_test.py FORETRACE MACHINES [unittest arguments]
"""

import html.parser
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
STARTUPS = ("p", "ln p", "p^2")
DATA = ("d", "p d", "ln p d", "p^2 d")
TERMS = ("1", "p", "ln p", "p^2", "ceil log2 p", "(p-1)", "(p-1)/p", "d", "p d", "ln p d", "p^2 d",
         "ceil log2 p d", "(p-1) d", "(p-1)/p d")


def foretrace(*arguments):
    result = subprocess.run([FORETRACE, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: status {result.returncode}\n{result.stderr}")
    return result.stdout


class Tables(html.parser.HTMLParser):
    """The tables of a page: {heading before it: [rows of cells]}, several in order."""

    def __init__(self, page):
        super().__init__()
        self.heading, self.found, self.cell, self.in_heading = "", [], None, False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("h2", "h3"):
            self.in_heading, self.heading = True, ""
        elif tag == "table":
            self.found.append((self.heading, []))
        elif tag == "tr":
            self.found[-1][1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in ("h2", "h3"):
            self.in_heading = False
        elif tag in ("td", "th"):
            self.found[-1][1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.in_heading:
            self.heading += data
        elif self.cell is not None:
            self.cell += data


def seconds(cell):
    value, unit = cell.removesuffix(" *").split()
    return float(value) * UNITS[unit]


class Sheet(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def sheet(self, model, formats, *options):
        out = self.folder / "sheet"
        foretrace("datasheet", model, "--format", formats, "-o", out, *options)
        return out

    def ask_gnuplot(self, folder, questions):
        """What gnuplot prints for each call of a function."""
        script = "load 'functions.gp'\nset print 'answers'\n" + \
            "".join(f"print sprintf('%.17g', {question})\n" for question in questions)
        (folder / "ask.gp").write_text(script)
        subprocess.run(["gnuplot", "ask.gp"], cwd=folder, check=True, timeout=60)
        return [float(line) for line in (folder / "answers").read_text().split()]


class Functions(Sheet):
    def model_of_all_forms(self):
        """Each of the papers' 12 forms, in three intervals of sizes, in milliseconds and elements of 4."""
        draw = random.Random(3)
        text = '[machine]\nname = "forms"\nranks = 64\ntime_unit = "ms"\nelement_bytes = 4\n'
        for i, f in enumerate(STARTUPS):
            for k, g in enumerate(DATA):
                text += f'[[function]]\nname = "form_{i}{k}"\nclass = "collective"\n'
                for interval in ("[0, 99]", "[100, 4000]", "[4001]"):
                    c, s, b = (round(draw.uniform(-0.2, 2), 3) for _ in range(3))
                    text += (f'[[function.regime]]\nbytes = {interval}\nc = [{c}, 0.01]\ns = [{s}, 0.125]\n'
                             f'f = "{f}"\nk = [{b}, 0.002]\ng = "{g}"\n')
        return self.write("forms.toml", text)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def model_of_terms(self):
        """Every term alone, all of them, others for other p, prediction intervals, an error of extrapolation."""
        draw = random.Random(4)

        def terms(names):
            return "{ " + ", ".join(f'"{name}" = [{draw.uniform(0.1, 2):.4f}, 0.05]' for name in names) + " }"

        text = '[machine]\nname = "terms"\nranks = 64\ntime_unit = "us"\nelement_bytes = 8\n'
        for i, names in enumerate([*([name] for name in TERMS), TERMS]):
            text += (f'[[function]]\nname = "terms_{i}"\nclass = "collective"\nmeasured_ranks = [2, 7, 64]\n'
                     f'measured_bytes = [0, 4000]\nextrapolation_error = 0.25\n'
                     f'[[function.regime]]\nbytes = [0, 100]\nterms = {terms(names)}\n'
                     f'interval = [0.9, 1.1]\ncoverage = 0.95\n'
                     f'[[function.regime]]\nbytes = [101]\nterms = {terms(names)}\nother_terms = {terms(TERMS)}\n')
        text += ('[[function]]\nname = "corrected"\nclass = "collective"\nmeasured_ranks = [2, 64]\n'
                 'measured_bytes = [0, 4000]\nextrapolation_error = 0.25\n'
                 '[[function.regime]]\nterms = { "1" = 0.5, "(p-1) d" = 0.1 }\ninterval = [0.9, 1.1]\n'
                 '[[function.correction]]\nranks = 2\nfactors = [[0, 0.25], [100, 1.5], [4000, 1.25]]\n'
                 '[[function.correction]]\nranks = 64\nfactors = [[100, 3.0]]\n')
        return self.write("terms.toml", text)

    def agrees(self, model):
        folder = self.sheet(model, "gnuplot") / "gnuplot"
        expected = json.loads(foretrace("calc", model, "all", "--ranks", "1,2,3,7,64,100000",
                                        "--bytes", "0,1,99,100,101,4000,4001,1m,3g", "--json"))
        questions = [f"{kind}{re.sub('[^A-Za-z0-9]', '_', each['function'])}({each['ranks']},{each['bytes']})"
                     for each in expected for kind in ("t", "least_", "most_")]
        answers = iter(self.ask_gnuplot(folder, questions))
        for each in expected:
            for key in ("avg", "min", "max"):
                answer = next(answers)
                self.assertLessEqual(abs(answer - each[key]), 1e-12 * each[key], (each, key, answer))

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_gnuplot_prints_what_calc_prints(self):
        for model in (self.model_of_all_forms(), self.model_of_terms(), MACHINES / "cray-t3d.toml", MACHINES / "sparc-ethernet.toml"):
            with self.subTest(model=model.name):
                self.agrees(model)


class Paper(Sheet):
    @unittest.skipUnless(shutil.which("pdflatex") and shutil.which("pdftotext"), "no LaTeX, or no pdftotext")
    def test_pdf(self):
        """LaTeX takes what is written, and the same model gives the same file."""
        model = MACHINES / "cray-t3d.toml"
        first = (self.sheet(model, "pdf", "--full") / "datasheet.pdf").read_bytes()
        pdf = self.sheet(model, "pdf", "--full") / "datasheet.pdf"
        self.assertEqual(first, pdf.read_bytes())
        words = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
        for each in ("MPI data sheet: Cray T3D", "Notes on use", "alltoall over ranks and sizes", "p = 128"):
            self.assertIn(each, words)
        # Small messages, as the thesis prints it.
        self.assertRegex(words, r"recv +60 \+ 0.7 × d +0 to 256 B +0.97")

    @unittest.skipUnless(shutil.which("pdflatex"), "no LaTeX")
    def test_all_stays_on_the_paper(self):
        """Also of a function with many regimes, and of a library of which all parameters are known."""
        parameter = "[4.27e-8, 5e-10]"
        text = '[machine]\nname = "m"\nranks = 2\ntime_unit = "us"\n'
        for first in (0, 4041):
            text += f"[[loggps.regime]]\nbytes = [{first}{', 4040' if first == 0 else ''}]\noverlap_send = 0.59\noverlap_recv = 0.5\n"
            text += "".join(f"{name} = {parameter}\n" for name in ("L", "o_s", "o_r", "g", "G"))
        for regimes in (22, 70):
            text += f'[[function]]\nname = "with_{regimes}"\nclass = "point-to-point"\nheld_out = [0.031, 3.674]\n'
            for i in range(regimes):
                last = f", {100 * i + 99}" if i + 1 < regimes else ""
                text += (f"[[function.regime]]\nbytes = [{100 * i}{last}]\nterms = {{ \"1\" = [0.0408209083, 0.000190684512], "
                         '"d" = [7.41516988e-06, 7.2644959e-07] }\ninterval = [0.9, 1.1]\ncoverage = 0.95\n')
        model = self.folder / "wide.toml"
        model.write_text(text)
        for extent in ((), ("--full",)):
            self.latex(model, *extent)

    def latex(self, model, *options):
        """The number of pages."""
        folder = self.sheet(model, "tex", *options)
        for _ in range(2):  # longtable learns its widths in the first
            subprocess.run(["pdflatex", "-interaction=batchmode", "datasheet.tex"], cwd=folder, check=True, timeout=60,
                           capture_output=True)
        log = (folder / "datasheet.log").read_text(errors="replace")
        self.assertNotIn("Overfull", log)
        self.assertNotIn("Float too large", log)
        return int(re.search(r"\((\d+) pages?", log)[1])

    @unittest.skipUnless(shutil.which("pdflatex"), "no LaTeX")
    def test_a_hundred_functions_fit_some_fifteen_pages(self):
        """Whatever was measured of them; warnings and all parameters included."""
        text = ('[machine]\nname = "m"\nranks = 64\ntime_unit = "us"\nmpi_library = "m"\nsource = "s"\n'
                '[measurement]\nvalid = false\nreasons = ["it was a noisy day"]\n[loggps]\nS = 4041\n')
        for i in range(104):
            kind = "point-to-point" if i < 22 else "collective" if i < 95 else "barrier"
            text += f'[[function]]\nname = "function_number_{i}"\nclass = "{kind}"\nheld_out = [0.03, 0.7]\n'
            for first in range(0, 8000, 1000) if kind != "barrier" else (0,):
                last = f", {first + 999}" if first < 7000 and kind != "barrier" else ""
                text += (f"[[function.regime]]\nbytes = [{first}{last}]\n"
                         'terms = { "1" = [1.5, 0.1], "ceil log2 p" = [0.3333, 0.01]')
                text += ', "(p-1)/p d" = [0.00012345, 0.0000101]' if kind == "collective" else ""
                text += ', "d" = [0.00012345, 0.0000101]' if kind == "point-to-point" else ""
                text += " }\ninterval = [0.9, 1.1]\ncoverage = 0.95\n"
        model = self.folder / "many.toml"
        model.write_text(text.replace(', "ceil log2 p" = [0.3333, 0.01], "d"', ', "d"'))
        self.assertLessEqual(self.latex(model), 18)
        page = (self.folder / "sheet" / "datasheet.tex").read_text()
        self.assertEqual(page.count(r"\textbf{\footnotesize function"), 104)

    def test_comparison_is_brief(self):
        """One small plot for each function, a colour for each machine; --full has the rest."""
        machines = [MACHINES / "cray-t3d.toml", MACHINES / "sparc-ethernet.toml"]
        folder = self.folder / "compared"
        brief = foretrace("datasheet", *machines)
        whole = foretrace("datasheet", *machines, "--full")
        self.assertIn("alltoall, 1024 B, p = 8", brief)
        self.assertNotIn("element", brief.split("Notes on use")[0])
        self.assertGreater(len(whole.splitlines()), 5 * len(brief.splitlines()))
        foretrace("datasheet", *machines, "--format", "tex", "-o", folder)
        self.assertEqual((folder / "datasheet.tex").read_text().count(r"\begin{minipage}[t]{162bp}"), 21)


class Samples(Sheet):
    RANKS = (2, 5, 8)
    SIZES = (0, 1, 100, 5000, 70001)

    def setUp(self):
        """A model and noisy samples of it; some blocks were disturbed."""
        super().setUp()
        self.model = self.folder / "m.toml"
        self.model.write_text(
            '[machine]\nname = "m"\nranks = 8\ntime_unit = "us"\n'
            '[[function]]\nname = "send"\nclass = "point-to-point"\n'
            '[[function.regime]]\nbytes = [0, 4040]\nc = [0.6, 0.02]\nk = [2.5e-4, 1e-5]\ng = "d"\n'
            '[[function.regime]]\nbytes = [4041]\nc = [3.1, 0.1]\nk = [1.1e-4, 2e-6]\ng = "d"\n'
            '[[function]]\nname = "bcast"\nclass = "collective"\n'
            '[[function.regime]]\nbytes = [0]\nc = [1.5, 0.1]\ns = [0.8, 0.03]\nf = "ln p"\n'
            'k = [1e-4, 1e-6]\ng = "ln p d"\n'
            '[[function]]\nname = "barrier"\nclass = "barrier"\n'
            '[[function.regime]]\nbytes = [0]\nc = [0.2, 0.01]\ns = [0.4, 0.02]\nf = "ln p"\n')
        draw = random.Random(7)
        self.samples = {}
        lines = ["function,ranks,bytes,launch,seconds,kept"]
        for function, ranks, sizes in (("send", (2,), self.SIZES), ("bcast", self.RANKS, self.SIZES),
                                       ("barrier", self.RANKS, (0,))):
            for p in ranks:
                for d in sizes:
                    for launch in range(1, 6):
                        for _ in range(draw.randint(1, 4)):
                            time = self.calc(function, p, d) * draw.lognormvariate(0, 0.05)
                            kept = draw.random() < 0.8
                            time = time if kept else 20 * time
                            lines.append(f"{function},{p},{d},{launch},{time!r},{int(kept)}")
                            if kept:
                                self.samples.setdefault((function, p, d), []).append(time)
        draw.shuffle(lines[1:])
        (self.folder / "m.samples.csv").write_text("\n".join(lines) + "\n")

    def calc(self, function, p, d):
        log = math.log(p)
        return {"send": 0.6 + 2.5e-4 * d if d <= 4040 else 3.1 + 1.1e-4 * d,
                "bcast": 1.5 + 0.8 * log + 1e-4 * log * d, "barrier": 0.2 + 0.4 * log}[function] * 1e-6

    def test_every_number(self):
        """By a script that shares nothing with Foretrace."""
        script = pathlib.Path(__file__).with_name("datasheet_numbers.py")
        result = subprocess.run([sys.executable, script, FORETRACE, self.model, MACHINES / "cray-t3d.toml"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        # 41 points with six numbers, their coefficients, the summaries.
        self.assertGreater(int(re.search(r"m.toml: (\d+) numbers", result.stdout)[1]), 250)

    def test_gnuplot_data(self):
        folder = self.sheet(self.model, "gnuplot") / "gnuplot"
        seen = set()
        for function in ("send", "bcast", "barrier"):
            for line in (folder / f"{function}.dat").read_text().splitlines():
                if not line or line.startswith("#"):
                    continue
                p, d, median, lower, upper, count, fitted = map(float, line.split())
                seen.add(point := (function, int(p), int(d)))
                kept = self.samples[point]
                self.assertEqual(count, len(kept))
                self.assertAlmostEqual(median, statistics.median(kept), delta=1e-15)
                self.assertAlmostEqual(fitted, self.calc(*point), delta=1e-15)
                if count > 1:
                    quartiles = statistics.quantiles(kept, method="inclusive")
                    self.assertAlmostEqual(lower, quartiles[0], delta=1e-15)
                    self.assertAlmostEqual(upper, quartiles[2], delta=1e-15)
        self.assertEqual(seen, set(self.samples))

    def test_raw_tables(self):
        page = (self.sheet(self.model, "html") / "datasheet.html").read_text()
        seen = set()
        for heading, rows in Tables(page).found:
            if rows[0][:1] != ["p"] or "samples" not in rows[0]:
                continue
            for row in rows[1:]:
                cells = dict(zip(rows[0], row))
                seen.add(point := (heading, int(cells["p"]), int(cells["bytes"])))
                kept = self.samples[point]
                self.assertEqual(int(cells["samples"]), len(kept))
                median, fitted = statistics.median(kept), self.calc(*point)
                # Times have four digits.
                self.assertAlmostEqual(seconds(cells["median"]) / median, 1, delta=5.1e-4)
                self.assertAlmostEqual(seconds(cells["equation"]) / fitted, 1, delta=5.1e-4)
                off = float(cells["median - equation"].removesuffix(" %"))
                self.assertAlmostEqual(off, 100 * (median - fitted) / fitted, delta=0.051)
                if len(kept) > 1:
                    quartiles = statistics.quantiles(kept, method="inclusive")
                    self.assertAlmostEqual(seconds(cells["lower quartile"]) / quartiles[0], 1, delta=5.1e-4)
                    self.assertAlmostEqual(seconds(cells["upper quartile"]) / quartiles[2], 1, delta=5.1e-4)
        self.assertEqual(seen, set(self.samples))

    def test_times_are_those_of_calc(self):
        """The tables at the front, cell by cell."""
        page = (self.sheet(self.model, "html", "--ranks", "2,8,64", "--bytes", "8,4040,1048576") /
                "datasheet.html").read_text()
        asked = json.loads(foretrace("calc", self.model, "all", "--ranks", "2,8,64",
                                     "--bytes", "8,4040,1m", "--json"))
        times = {(each["function"], each["ranks"], each["bytes"]): each["avg"] for each in asked}
        cells = 0
        collective = iter((2, 8, 64))
        for heading, rows in Tables(page).found:
            if heading != "Times":
                continue
            columns = rows[0][1:]
            p = next(collective) if rows[1][0] == "bcast" else 2
            for row in rows[1:]:
                for column, cell in zip(columns, row[1:]):
                    ranks = int(column[4:]) if column.startswith("p = ") else p
                    size = 8 if column.startswith("p = ") else {"8 B": 8, "4040 B": 4040, "1 MiB": 1048576}[column]
                    self.assertAlmostEqual(seconds(cell) / times[row[0], ranks, size], 1, delta=5.1e-4)
                    measured = size <= max(self.SIZES) and ranks <= 8
                    self.assertEqual(cell.endswith(" *"), not measured, (row[0], column))
                    cells += 1
        self.assertEqual(cells, 3 + 3 * 3 + 3)


if __name__ == "__main__":
    FORETRACE = sys.argv.pop(1)
    MACHINES = pathlib.Path(sys.argv.pop(1))
    unittest.main()
