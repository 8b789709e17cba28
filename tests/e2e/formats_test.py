"""Same input, same bytes; and what report, timeline, compare and calc print."""

import json
import math

import harness


class Determinism(harness.TestCase):
    COMMAND = "life", "--rows", 23, "--cols", 21, "--iters", 3

    def command(self):
        return [harness.paper_program(self.COMMAND[0]), *self.COMMAND[1:]]

    def test_predict(self):
        for compute in ("none", "annotated"):
            first = self.predict(3, self.command(), compute=compute, name="a.ftr").read_bytes()
            second = self.predict(3, self.command(), compute=compute, name="a.ftr").read_bytes()
            self.assertEqual(first, second)

    def test_simulate(self):
        recorded = self.record(3, self.command())
        for compute in ("none", "annotated", "recorded", "recorded:0.5"):
            first = self.simulate(recorded, compute=compute, name="a.ftr").read_bytes()
            second = self.simulate(recorded, compute=compute, name="b.ftr").read_bytes()
            self.assertEqual(first, second)


class Convert(harness.TestCase):
    def test_all_clocks(self):
        command = [harness.paper_program("life"), "--rows", 23, "--cols", 21, "--iters", 3]
        for trace in (self.record(3, command), self.predict(3, command),
                      self.record(3, command, name="wall.ftr", env={"FORETRACE_CLOCK": "wall"})):
            with self.subTest(trace=trace.name):
                self.assert_survives_text(trace)


class Reports(harness.TestCase):
    FIELDS = {"ranks", "time", "serial_time", "speedup", "efficiency", "states", "per_rank"}

    def check_report(self, report):
        self.assertLessEqual(self.FIELDS, set(report))
        ranks = report["per_rank"]
        self.assertEqual([rank["rank"] for rank in ranks], list(range(report["ranks"])))
        for rank in ranks:
            self.assertEqual(set(rank), {"rank", "time", "compute", "mpi", "wait", "others_wait", "utilisation"})
            self.assertAlmostEqual(rank["time"], rank["compute"] + rank["mpi"], delta=1e-10)
            self.assertLessEqual(rank["wait"], rank["mpi"])
            self.assertAlmostEqual(rank["utilisation"], rank["compute"] / report["time"], delta=1e-9)
        self.assertEqual(report["time"], max(rank["time"] for rank in ranks))
        serial = sum(rank["compute"] for rank in ranks)
        self.assertAlmostEqual(report["serial_time"], serial, delta=1e-10)
        self.assertAlmostEqual(report["speedup"], serial / report["time"], delta=1e-9)
        self.assertAlmostEqual(report["efficiency"], report["speedup"] / report["ranks"], delta=1e-9)
        states = report["states"]
        self.assertAlmostEqual(states["COMPUTE"], serial, delta=1e-10)
        self.assertAlmostEqual(sum(states.values()), sum(rank["time"] for rank in ranks), delta=1e-9)

    def setUp(self):
        super().setUp()
        self.trace = self.predict(3, [harness.paper_program("half"), "--rows", 23, "--cols", 22])

    def test_report(self):
        self.check_report(json.loads(self.foretrace("report", self.trace, "--json").out))

    def test_simulate_json(self):
        """Has the same numbers as the report on what predict computed."""
        recorded = self.record(3, [harness.paper_program("half"), "--rows", 23, "--cols", 22])
        report = json.loads(self.foretrace("report", self.trace, "--json").out)
        out = self.foretrace("simulate", recorded, "--machine", harness.T3D, "--compute", "annotated",
                             "--stats", "--json").out
        simulated = json.loads(out)
        self.check_report(simulated)
        self.assertEqual(set(simulated["stats"]), {"operations", "messages", "seconds", "peak_bytes"})
        for field in self.FIELDS:
            self.assertEqual(simulated[field], report[field], field)

    def test_timeline(self):
        page = self.directory / "page.html"
        before = {path.name for path in self.directory.iterdir()}
        if not harness.has_page():
            result = harness.foretrace("timeline", self.trace, "-o", page)
            self.assertEqual(self.ok(result, 1).err.count("\n"), 1)
            self.assertFalse(page.exists())
            return
        self.foretrace("timeline", self.trace, "-o", page)
        after = {path.name for path in self.directory.iterdir()}
        self.assertEqual(after - before, {"page.html"})
        text = page.read_text()
        self.assertTrue(text.lstrip().lower().startswith("<!doctype html"), text[:100])
        for reference in ('src="http', 'href="http', "@import"):
            self.assertNotIn(reference, text)
    def test_text_timeline(self):
        drawn = self.foretrace("timeline", self.trace, "--width", 80).out
        for rank in range(3):
            self.assertRegex(drawn, rf"(?m)^\D*\b{rank}\b")
        self.assertLessEqual(max(map(len, drawn.splitlines())), 80)

    def test_compare(self):
        """A trace with itself: nothing differs, at any level; the longer run has other events."""
        for level in ("events", "ranks", "states"):
            found = json.loads(self.foretrace("compare", self.trace, self.trace, "--level", level,
                                              "--json").out)
            ratios = list(self.ratios(found))
            self.assertTrue(ratios, found)
            self.assertEqual(set(ratios), {1}, found)
        other = self.predict(3, [harness.paper_program("half"), "--rows", 23, "--cols", 22,
                                 "--iters", 2], name="other.ftr")
        result = harness.foretrace("compare", self.trace, other, "--level", "events")
        text = result.out + result.err
        self.assertRegex(text, r"rank \d", str(result))
        self.assertRegex(text, r"event \d", str(result))

    def ratios(self, value):
        """All numbers under a key that names a ratio; null where both times are 0."""
        if isinstance(value, dict):
            for key, inner in value.items():
                if "ratio" in key and isinstance(inner, (int, float)):
                    yield inner
                else:
                    yield from self.ratios(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from self.ratios(inner)

    def test_coverage(self):
        lines = self.foretrace("coverage").out.splitlines()
        rows = {line.split()[0]: line for line in lines[1:]}
        self.assertGreater(len(rows), 300)
        self.assertRegex(rows["MPI_Send"], r"full\s+full$")


class Calc(harness.TestCase):
    def calc(self, machine, function, ranks, size):
        out = self.foretrace("calc", machine, function, "--ranks", ranks, "--bytes", size, "--json").out
        answer = json.loads(out)
        self.assertEqual(set(answer), {"function", "ranks", "bytes", "min", "avg", "max"})
        self.assertEqual((answer["function"], answer["ranks"], answer["bytes"]),
                         (function, ranks, size))
        self.assertLessEqual(answer["min"], answer["avg"])
        self.assertLessEqual(answer["avg"], answer["max"])
        return answer["avg"]

    def test_sparc(self):
        """Howell's thesis, section 4.2; microseconds, elements of 4 bytes."""
        self.assertEqual(self.calc(harness.SPARC, "barrier", 8, 0), 0.072)
        equations = {"alltoall": lambda p, d: 2000 + 4000 * p * p + 2 * p * p * d,
                     "send": lambda p, d: 2000 + d,
                     "gather": lambda p, d: 30000 * math.log(p) + 4 * math.log(p) * d,
                     "allgather": lambda p, d: 8000 * p + 4 * p * p * d,
                     "reduce": lambda p, d: 20000 * math.log(p) + 6 * math.log(p) * d,
                     "allreduce": lambda p, d: 10000 + 500 * p * p + 2 * d * p * p,
                     "bcast": lambda p, d: 2000 + 700 * p * p + p * d}
        for name, equation in equations.items():
            for p in (2, 5, 8):
                for d in (0, 1, 1000):
                    with self.subTest(name=name, p=p, d=d):
                        self.assertAlmostEqual(self.calc(harness.SPARC, name, p, 4 * d),
                                               equation(p, d) * 1e-6, delta=1e-9)

    def test_t3d(self):
        """Howell's thesis, appendix B: up to 32 elements of 8 bytes, and above."""
        log = math.log
        small = {"alltoall": lambda p, d: 40 + 50 * p + 2 * d,
                 "gather": lambda p, d: 70 + 10 * p + 0.7 * d,
                 "allreduce": lambda p, d: 300 + 6 * p + 2 * log(p) * d,
                 "bcast": lambda p, d: 200 + 2 * p + 0.6 * d}
        large = {"alltoall": lambda p, d: 40 * p + 0.3 * p * d,
                 "gather": lambda p, d: 200 * log(p) + 0.0009 * p * p * d,
                 "allreduce": lambda p, d: 300 + 6 * p + log(p) * d,
                 "bcast": lambda p, d: 100 + 2 * p + 0.2 * log(p) * d}
        for sizes, equations in (((0, 1, 32), small), ((33, 1000, 8192), large)):
            for name, equation in equations.items():
                for p in (2, 7, 128):
                    for d in sizes:
                        with self.subTest(name=name, p=p, d=d):
                            self.assertAlmostEqual(self.calc(harness.T3D, name, p, 8 * d),
                                                   equation(p, d) * 1e-6, delta=1e-9)

    def test_bounds_of_an_equation(self):
        """t = (3 +/- 1) + (2 +/- 0.5) p + (0.1 +/- 0.01) d us at p = 4, d = 10 bytes: 3 + 8 + 1 = 12;
        all coefficients at their lower ends 2 + 6 + 0.9, at their upper ends 4 + 10 + 1.1."""
        model = self.write("m.toml", '[machine]\nname = "m"\ntime_unit = "us"\nelement_bytes = 1\n'
                           '[[function]]\nname = "bcast"\n[[function.regime]]\nbytes = [0]\n'
                           'c = [3.0, 1.0]\ns = [2.0, 0.5]\nf = "p"\nk = [0.1, 0.01]\ng = "d"\n')
        answer = json.loads(self.foretrace("calc", model, "bcast", "--ranks", 4, "--bytes", 10,
                                           "--json").out)
        for name, expected in (("min", 8.9e-6), ("avg", 12e-6), ("max", 15.1e-6)):
            self.assertAlmostEqual(answer[name], expected, delta=1e-12)

    def test_prompt(self):
        result = self.foretrace("calc", harness.SPARC, text_in="list\nbarrier 8\nsend 2 400\nnone 3\n"
                                "send 0 1\nquit\n")
        self.assertIn("avg = 0.072 s", result.out)
        self.assertIn("avg = 0.0021 s", result.out)  # 2000 + 100 us
        self.assertIn("alltoall\n", result.out)
        self.assertIn("'none' is not in the machine model", result.out)
        self.assertIn("RANKS: expected 1 to 67108864, found 0", result.out)
        # The end of the input ends it too.
        self.foretrace("calc", harness.SPARC, text_in="barrier 8\n")


if __name__ == "__main__":
    harness.main()
