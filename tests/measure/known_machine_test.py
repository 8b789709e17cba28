#!/usr/bin/env python3
"""A machine whose equations are known: samples made of them, fitted by the command line, asked through the command line.

    known_machine_test.py FORETRACE SOURCE_DIRECTORY

Needs no MPI. What is compared: times at sizes that were not sampled, with the equations that the samples were made
of; the data sheet, with medians and times computed here; bench/measure/validate.py, with answers known beforehand.
"""

import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
SOURCE = pathlib.Path()
US = 1e-6
EAGER = 4040  # the last size of the lower piece of every function with two
MOST = 4 << 20


def two_pieces(low, high):
    return lambda p, d: low(p, d) if d <= EAGER else high(p, d)


# More steps than a fit looks for by itself, all told in the samples file, and two bends above them.
STEPS = (10, 64, 256, 1026, 2112, EAGER, 4088, 8080)


def many_steps(p, d):
    steps = sum(d > step for step in STEPS)
    bends = 0.0001 * max(d - 60000, 0) + 0.0003 * max(d - 700000, 0)
    return US * ((1 + 0.0002 * d) * 1.3 ** steps + bends)


# Seconds for p ranks and d bytes, each in a form of the papers', with a step where the protocol changes.
MACHINE = {
    "send": two_pieces(lambda p, d: US * (0.4 + 0.0005 * d), lambda p, d: US * (4.0 + 0.0001 * d)),
    "recv": two_pieces(lambda p, d: US * (0.6 + 0.0004 * d), lambda p, d: US * (5.0 + 0.0002 * d)),
    "pingpong": two_pieces(lambda p, d: US * (1.5 + 0.001 * d), lambda p, d: US * (9.0 + 0.0004 * d)),
    "ssend": many_steps,
    "bcast": lambda p, d: US * (1.0 + 2.0 * math.log(p) + 0.0003 * math.log(p) * d),
    "allreduce": lambda p, d: US * (2.0 + 0.5 * p + 0.0002 * p * d),
    "barrier": lambda p, d: US * (1.0 + 3.0 * math.log(p)),
}
WITHOUT_DATA = {"barrier"}
PAIRS = {"send", "ssend", "recv", "pingpong"}
RANKS = (2, 4, 8)
LAUNCHES = 5
BLOCKS = 4


def sampled_sizes():
    """Three to a doubling, and both sides of the steps."""
    return sorted({round(2 ** (k / 3)) for k in range(67)} | {s + i for s in STEPS for i in (0, 1)} | {MOST})


def unseen_sizes(count):
    generator = random.Random(7)
    seen = set(sampled_sizes())
    sizes = [round(math.exp(generator.uniform(0, math.log(MOST)))) for _ in range(10 * count)]
    return sorted({s for s in sizes if s not in seen})[:10 * count:10]


def write_samples(path, noise, wild, seed):
    """`noise`: relative, the same for a launch's blocks; `wild`: the share of blocks that come out up to ten times too long."""
    generator = random.Random(seed)
    lines = ["# host = known", "# launches = 5", "# mpi_library = none", "# oversubscribed = no", "# ranks = 8",
             "# start = common clock", f"# sync_threshold = {EAGER + 1}", "# timer_overhead = 2e-08",
             "# timer_resolution = 1e-09",
             *(f"# jumps_{f} = {EAGER}" for f in sorted(PAIRS - {"ssend"})),
             f"# jumps_ssend = {' '.join(map(str, STEPS))}",
             "function,ranks,bytes,launch,seconds,kept"]
    for function in sorted(MACHINE):
        for ranks in (2,) if function in PAIRS else RANKS:
            for size in [0] if function in WITHOUT_DATA else sampled_sizes():
                for launch in range(1, LAUNCHES + 1):
                    factor = 1 + noise * generator.gauss(0, 1)
                    for _ in range(BLOCKS):
                        seconds = MACHINE[function](ranks, size) * factor * (1 + 0.1 * noise * generator.gauss(0, 1))
                        if generator.random() < wild:
                            seconds *= generator.uniform(1.5, 10)
                        lines.append(f"{function},{ranks},{size},{launch},{seconds!r},1")
    path.write_text("\n".join(lines) + "\n")


def run(*words, status=0):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=120)
    if result.returncode != status:
        raise AssertionError(f"{words}: status {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def calc(model, function, ranks, size):
    return json.loads(run(TOOL, "calc", model, function, "--ranks", ranks, "--bytes", size, "--json"))["avg"]


def calc_all(model, function, points):
    """The same for (ranks, bytes) of any kind, at once."""
    ranks, sizes = ({str(p[i]) for p in points} for i in (0, 1))
    # Sizes 0 and 1 with them: for one time alone calc prints an object and no array.
    rows = json.loads(run(TOOL, "calc", model, function, "--ranks", ",".join(sorted(ranks, key=int)),
                          "--bytes", ",".join(sorted(sizes | {"0", "1"}, key=int)), "--json"))
    return {(row["ranks"], row["bytes"]): row["avg"] for row in rows}


def medians(samples, function):
    """(ranks, bytes) -> the median of all kept blocks, as the data sheet shows them."""
    blocks = {}
    for line in samples.read_text().splitlines():
        fields = line.split(",")
        if fields[0] == function and fields[5] == "1":
            blocks.setdefault((int(fields[1]), int(fields[2])), []).append(float(fields[4]))
    return {point: (statistics.median(b), len(b)) for point, b in blocks.items()}


class KnownMachine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.model = self.folder / "known.toml"
        self.samples = self.folder / "known.samples.csv"

    def refit(self, noise, wild, seed=1, name="known"):
        model = self.folder / f"{name}.toml"
        write_samples(self.folder / f"{name}.samples.csv", noise, wild, seed)
        run(TOOL, "measure", "--refit", "-o", model)
        return model

    def errors(self, function):
        """Relative, by (ranks, bytes), where nothing was sampled."""
        points = [(p, d) for p in ((2,) if function in PAIRS else RANKS)
                  for d in ([0] if function in WITHOUT_DATA else unseen_sizes(30))]
        told = calc_all(self.model, function, points)
        return {point: abs(told[point] / MACHINE[function](*point) - 1) for point in points}

    def test_exact_samples_give_the_equations_back(self):
        self.refit(noise=0, wild=0)
        for function in MACHINE:
            errors = self.errors(function)
            worst = max(errors, key=errors.get)
            self.assertLess(errors[worst], 1e-3, f"{function} at {worst}")

    def test_noisy_samples_give_times_within_the_noise(self):
        # 2 % between launches, the median of 5, averaged by the fit over some twenty sizes; the bar leaves
        # 1.5 times the noise of one point. Wild blocks are outvoted within their launch.
        self.refit(noise=0.02, wild=0.05)
        for function in MACHINE:
            errors = self.errors(function)
            worst = max(errors, key=errors.get)
            self.assertLess(errors[worst], 0.03, f"{function} at {worst}")
            self.assertLess(statistics.fmean(errors.values()), 0.015, function)

    def test_threshold_is_where_the_samples_say(self):
        self.refit(noise=0.02, wild=0.05)
        self.assertIn(f"S = {EAGER + 1}", self.model.read_text())
        # To the byte: the step is a factor of 1.8 and more.
        for size in (EAGER, EAGER + 1):
            self.assertLess(abs(calc(self.model, "send", 2, size) / MACHINE["send"](2, size) - 1), 0.03, size)

    def test_sparse_samples_that_no_equation_fits_are_invalid(self):
        rows = ["function,ranks,bytes,launch,seconds,kept"]
        for launch in (1, 2, 3):
            rows += [f"bcast,4,{size},{launch},{seconds},1"
                     for size, seconds in ((1, 1e-6), (64, 9e-4), (4096, 2e-6), (65536, 7e-2), (1 << 20, 1e-5))]
            rows += [f"barrier,{p},0,{launch},{p * 1e-6},1" for p in (2, 4, 8)]
        (self.folder / "sparse.samples.csv").write_text("\n".join(rows) + "\n")
        done = subprocess.run([TOOL, "measure", "--refit", "-o", self.folder / "sparse.toml"], check=True,
                              capture_output=True, text=True)
        self.assertRegex(done.stdout, r"(?m)^bcast .*INVALID$")
        self.assertNotRegex(done.stdout, r"(?m)^barrier .*INVALID$")
        self.assertRegex(done.stderr, r"WARNING: INVALID: the equations of bcast are off by \d")
        sheet = run(TOOL, "datasheet", self.folder / "sparse.toml")
        self.assertRegex(" ".join(sheet.split()), r"Not to be used: .* bcast \(")

    def test_refit_is_repeatable(self):
        first = self.refit(noise=0.02, wild=0.05).read_bytes()
        run(TOOL, "measure", "--refit", "-o", self.model)
        self.assertEqual(first, self.model.read_bytes())

    def test_every_figure_of_the_sheet_is_found_again(self):
        self.refit(noise=0.02, wild=0.05)
        sheet = self.folder / "sheet"
        run(TOOL, "datasheet", self.model, "--format", "gnuplot,text", "--ranks", "2,4,8", "--bytes", "8,1024,65536",
            "-o", sheet)
        for function in MACHINE:
            expected = medians(self.samples, function)
            rows = [line.split() for line in (sheet / "gnuplot" / f"{function}.dat").read_text().splitlines()
                    if line and not line.startswith("#")]
            self.assertEqual({(int(r[0]), int(r[1])) for r in rows}, set(expected), function)
            for ranks, size, median, _, _, count, equation, *_ in rows:
                point = int(ranks), int(size)
                self.assertEqual(int(count), expected[point][1], f"{function} {point}")
                self.assertTrue(math.isclose(float(median), expected[point][0], rel_tol=1e-9), f"{function} {point}")
                if size == "8" or size == "0":
                    self.assertTrue(math.isclose(float(equation), calc(self.model, function, *point), rel_tol=1e-9),
                                    f"{function} {point}")
        # The table of times: four digits of what calc says.
        text = (sheet / "datasheet.txt").read_text()
        table = text[text.index("Point-to-point functions"):]
        for function in sorted(PAIRS):
            row = re.search(rf"^ *{function} +(.*)$", table, re.M).group(1)
            shown = [float(value) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3}[unit]
                     for value, unit in re.findall(r"([\d.]+) (ps|ns|us|ms)", row)]
            told = [calc(self.model, function, 2, size) for size in (8, 1024, 65536)]
            for value, truth in zip(shown, told, strict=True):
                self.assertTrue(math.isclose(value, truth, rel_tol=5.1e-4), f"{function}: {value} for {truth}")

    def test_models_of_one_machine_are_compared(self):
        validate = [sys.executable, SOURCE / "bench/measure/validate.py", pathlib.Path(TOOL).parents[1], "--compare"]
        first = self.refit(noise=0.02, wild=0.05)
        second = self.refit(noise=0.02, wild=0.05, seed=2, name="again")
        report = run(*validate, first, second, "--sizes", "8")
        self.assertIn("over 7 functions and 8 sizes: median ", report)
        # A machine a tenth slower is none of the same.
        slower = self.folder / "slower.toml"
        lines = (self.folder / "again.samples.csv").read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("function,"))
        scaled = [line if i <= at else re.sub(r"[^,]+(?=,1$)", lambda m: repr(1.1 * float(m.group())), line)
                  for i, line in enumerate(lines)]
        slower.with_suffix(".samples.csv").write_text("\n".join(scaled) + "\n")
        run(TOOL, "measure", "--refit", "-o", slower)
        report = run(*validate, first, slower, "--sizes", "8", status=1)
        apart = float(re.search(r"median ([\d.]+) %", report).group(1))
        # |1 - 1.1| / 1.05 = 9.5 %, and what the noise adds or takes.
        self.assertGreater(apart, 7.5)
        self.assertLess(apart, 11.5)


if __name__ == "__main__":
    TOOL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
