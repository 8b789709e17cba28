"""tools/accuracy: its arithmetic, its tables and page, what it keeps, and one row end to end.

    accuracy_test.py BUILD
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/accuracy"))
import accuracy  # noqa: E402
import figures  # noqa: E402
import page  # noqa: E402
import program_list  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402
from settings import SETTINGS  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop()) if len(sys.argv) > 1 else None
SHARED = SETTINGS[0].name


def one_round(program="ring", real=(2.0,), setting=SHARED, **rest):
    return {"setting": setting, "program": program, "round": 0, "real": list(real), **rest}


class Arithmetic(unittest.TestCase):
    def test_quantiles_lie_between_the_two_nearest(self):
        self.assertEqual(figures.quantile([4, 1, 3, 2], 0.25), 1.75)
        self.assertEqual(figures.quantile([5], 0.9), 5)
        self.assertEqual(figures.quantile([1, 2, 3], 1), 3)

    def test_an_error_is_of_medians_over_all_rounds(self):
        row = figures.row_of([one_round(real=(1.0, 2.0), predict=3.0), one_round(real=(9.0,), predict=2.0),
                              one_round(real=(), predict=2.2)])
        self.assertEqual((row.real.median, row.real.count), (2.0, 3))
        self.assertEqual(row.predicted["predict"], 2.2)
        self.assertAlmostEqual(row.errors["predict"], 0.1)
        self.assertEqual((row.real.first, row.real.third), (1.5, 5.5))
        self.assertAlmostEqual(row.real.scatter, 1.0)

    def test_the_interval_is_that_of_the_middle_recording(self):
        row = figures.row_of([one_round(real=(1.0,), datasheet=5.0, low=4.9, high=5.1),
                              one_round(real=(2.0,), datasheet=1.0, low=0.9, high=1.1),
                              one_round(real=(3.0,), datasheet=2.0, low=1.9, high=3.0)])
        self.assertEqual(row.interval, (1.9, 3.0))
        self.assertEqual(row.inside, (2, 3))  # its ends count

    def test_where_networks_are_chosen_the_interval_is_that_of_the_chosen(self):
        row = figures.row_of([one_round(real=(1.0,), datasheet=5.0, auto=1.0, low=0.9, high=1.1),
                              one_round(real=(2.0,), datasheet=1.0, auto=3.0, low=2.9, high=3.1)])
        self.assertEqual(row.interval, (0.9, 1.1))

    def test_a_summary_counts_what_failed_and_names_the_worst(self):
        rows = figures.rows_of([one_round("a", (1.0,), live=1.1), one_round("b", (1.0,), live=0.7),
                                one_round("c", (1.0,), failed={"live": "status 1"}),
                                one_round("d", (), failed={"real": "not installed"})])
        made = figures.summary(rows, "live")
        self.assertEqual((made.rows, made.failed, made.program), (2, 1, "b"))
        self.assertAlmostEqual(made.mean, 0.2)
        self.assertAlmostEqual(made.median, 0.2)
        self.assertAlmostEqual(made.worst, 0.3)
        self.assertIsNone(figures.summary(rows, "packet"))

    def test_runs_in_the_models_state_are_looked_at_by_themselves(self):
        # 5e-8 in the model: a factor of two is the same state, and both ends of a run count.
        lines = [[5e-8, 1e-7], [2.5e-8, 2.4e-8], [6e-8, 2e-7], [2e-7, 2e-7], [5e-8, 4e-8], [0, 5e-8]]
        rounds = [one_round("a", (1.0, 9.0, 9.0, 9.0, 2.0, 9.0), predict=3.0, cache_line=5e-8, lines=lines),
                  one_round("b", (1.0,), predict=3.0), one_round("c", (1.0,), predict=3.0, cache_line=0, lines=[[0, 0]])]
        rows = figures.rows_of(rounds)
        self.assertEqual((rows[0].same_real.median, rows[0].same_real.count), (1.5, 2))
        self.assertAlmostEqual(rows[0].same_errors["predict"], 1.0)
        self.assertAlmostEqual(rows[0].errors["predict"], 3 / 9 - 1)
        self.assertEqual([row.program for row in figures.of_same_state(rows)], ["a"])
        self.assertEqual(tables.in_the_models_state(rows)[1],
                         "Of 5 real runs whose state is known 2, of 1 programs, found the machine in the state that its model is of. Errors by "
                         "these alone: predict 100.0 % in the mean, 100.0 % median, 100.0 % at most (a).")
        self.assertEqual(tables.in_the_models_state(rows[1:]), [])

    def test_coverage_adds_up(self):
        rows = figures.rows_of([one_round("a", (1.0, 2.0), datasheet=1, low=0, high=1.5), one_round("b", (1.0,))])
        self.assertEqual(figures.coverage(rows), (1, 2))


class Clock(unittest.TestCase):
    def test_from_the_first_begin_to_the_last_end(self):
        self.assertEqual(runs.real_seconds("1.0 5.0\n2.0 4.5\n"), 4.0)
        self.assertEqual(runs.real_seconds("2.0 4.5\nlines 5e-08 2e-07\n1.0 5.0\n"), 4.0)

    def test_the_cache_line(self):
        self.assertEqual(runs.lines_of("2.0 4.5\nlines 5e-08 2e-07\n1.0 5.0\n"), [5e-8, 2e-7])
        self.assertEqual(runs.lines_of("2.0 4.5\n1.0 5.0\n"), [0, 0])

    def test_the_tools_own_words_are_understood(self):
        self.assertEqual(runs.predicted_seconds("foretrace: predicted time 0.25 s on 2 ranks of X"), 0.25)
        self.assertEqual(runs.interval("100 draws ...: median 2 s, 90 % from 1.5 s to 2.5 s\n"), (1.5, 2.5))
        self.assertIsNone(runs.interval("20 draws give the same"))
        with self.assertRaises(runs.Failure):
            runs.predicted_seconds("nothing")


class Drawing(unittest.TestCase):
    ROWS = figures.rows_of([one_round("a|b<c", (0.1,), predict=0.11, datasheet=0.08, low=0.07, high=0.2, live=0.3),
                            one_round("d", (), failed={"real": "more than 120 s"})])

    def test_the_tables_have_every_row_and_every_reason(self):
        text = tables.markdown(self.ROWS, ["A machine."])
        self.assertIn("| 2 ranks in shared memory, Open MPI | predict | 1 | 10.0 % | 10.0 % | 10.0 % |", text)
        self.assertIn("| 100 ms | 100 ms to 100 ms | +10.0 % | -20.0 % | +200.0 % | 70 ms to 200 ms | 1 of 1 |", text)
        self.assertIn("| d | failed |", text)
        self.assertIn("- d (real): more than 120 s", text)

    def test_settings_that_were_not_run_stay(self):
        other = [dataclasses.replace(row, setting="testbed-4x1-100mbit") for row in self.ROWS]
        page = tables.BEGIN + tables.markdown(self.ROWS + other, ["Old."]) + tables.END
        text = tables.markdown(self.ROWS, ["New."], page)
        self.assertIn("New.\nAs an earlier run left them: testbed: 4 hosts, 1 rank each, 100 Mbit/s.\n", text)
        self.assertIn("| testbed: 4 hosts, 1 rank each, 100 Mbit/s | predict | 1 | 10.0 % |", text)
        self.assertEqual(text.count("| d | failed |"), 2)
        self.assertNotIn("| all |", text)
        again = tables.markdown(self.ROWS, ["New."], tables.BEGIN + text + tables.END)
        self.assertEqual(again, text)

    def test_what_stands_between_the_marks_is_replaced(self):
        before = f"# Page\n{tables.BEGIN}old\n{tables.END}after\n"
        once = tables.replace_between(before, "new\n")
        self.assertEqual(once, f"# Page\n{tables.BEGIN}new\n{tables.END}after\n")
        self.assertEqual(tables.replace_between(once, "new\n"), once)
        with self.assertRaises(ValueError):
            tables.replace_between("# Page\n", "new\n")

    def test_the_page_of_the_documentation_has_the_marks(self):
        text = (ROOT / "docs/accuracy.md").read_text()
        self.assertEqual((text.count(tables.BEGIN), text.count(tables.END)), (1, 1))

    def test_the_page_is_one_file_and_escapes_names(self):
        text = page.render(self.ROWS, ["A <machine>."])
        self.assertIn("a|b&lt;c", text)
        self.assertIn("A &lt;machine&gt;.", text)
        self.assertNotIn("a|b<c", text)
        for outside in ("http:", "https:", "src=", "<link", "<script"):
            self.assertNotIn(outside, text)
        self.assertEqual(text.count("<circle"), 2)  # live's +200 % stands at the edge
        self.assertEqual(text.count("<path"), 1)
        self.assertIn("--accent", text)

    def test_times_have_units(self):
        self.assertEqual([tables.seconds(t) for t in (2.5, 0.0123, 4e-6, 2e-9)], ["2.5 s", "12.3 ms", "4 us", "2 ns"])


class Lists(unittest.TestCase):
    def test_there_are_enough_programs_and_no_name_twice(self):
        programs = list(program_list.all_programs())
        self.assertGreaterEqual(len({program.words[0] for program in programs}), 25)
        for name in (program_list.SHARED, program_list.TESTBED):
            names = [program.name for program in program_list.programs_of(name)]
            self.assertEqual(len(names), len(set(names)))

    def test_debian_programs_are_known(self):
        known = {app.name for app in program_list.debian.all_apps()}
        for program in program_list.all_programs():
            if program.kind == "debian":
                self.assertIn(program.words[0], known)

    def test_settings_have_names_of_their_own(self):
        self.assertEqual(len({setting.name for setting in SETTINGS}), len(SETTINGS))
        self.assertEqual(SETTINGS[4].title, "testbed: 4 hosts, 2 ranks each, 100 Mbit/s")


class Kept(unittest.TestCase):
    def test_rounds_go_on_and_a_failed_real_run_is_not_repeated(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.jsonl")
            results = accuracy.Results(path)
            good, bad = program_list.programs_of(program_list.SHARED)[:2]
            self.assertEqual(results.to_do(SETTINGS[0], good, 3), 3)
            results.add(one_round(good.name))
            results.add(one_round(bad.name, (), failed={"real": "status 1"}))
            again = accuracy.Results(path)
            self.assertEqual(again.to_do(SETTINGS[0], good, 3), 2)
            self.assertEqual(again.to_do(SETTINGS[0], bad, 3), 0)
            self.assertEqual(again.to_do(SETTINGS[1], good, 3), 3)

    def test_each_setting_has_its_share_of_the_time(self):
        clock = accuracy.Clock(30)
        self.assertEqual([clock.deadline(number, 3) for number in range(3)], [600, 1200, 1800])
        self.assertIsNone(accuracy.Clock(0).deadline(0, 3))


@unittest.skipUnless(BUILD, "needs a build")
class EndToEnd(unittest.TestCase):
    def test_one_row(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            (out / "models").mkdir(parents=True)
            (out / "models" / f"{SHARED}.toml").write_text((ROOT / "machines/stampede.toml").read_text())
            docs = pathlib.Path(folder, "page.md")
            docs.write_text(tables.BEGIN + tables.END)
            words = [sys.executable, ROOT / "tools/accuracy/accuracy.py", BUILD, "--out", out, "--setting", SHARED,
                     "--only", "mandel", "--rounds", "1", "--docs", docs]
            # Ranks that spin take forever where others want the cores.
            quiet = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1")
            told = subprocess.run(words, check=True, capture_output=True, text=True, env=quiet).stdout
            lines = (out / "results.jsonl").read_text().splitlines()
            self.assertEqual(len(lines), 1, told)
            one = json.loads(lines[0])
            self.assertNotIn("failed", one, told)
            self.assertEqual(len(one["real"]), 3)
            self.assertEqual([len(lines) for lines in one["lines"]], [2, 2, 2])
            self.assertGreater(min(map(min, one["lines"])), 0)
            for way in ("predict", "datasheet", "loggps", "live"):
                self.assertGreater(one[way], 0)
            self.assertIn("mandel", docs.read_text())
            self.assertIn("mandel", (out / "index.html").read_text())
            subprocess.run(words, check=True, capture_output=True, env=quiet)  # nothing is left to do
            self.assertEqual((out / "results.jsonl").read_text().splitlines(), lines)


if __name__ == "__main__":
    unittest.main()
