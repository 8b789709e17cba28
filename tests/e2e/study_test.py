#!/usr/bin/env python3
"""Studies through the command line: what is run, kept, resumed and told."""

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import time
import unittest

import harness

STUDY = """
[study]
launches = [2, 2]
quiet_seconds = 0
where = "n >= 8 * p"
[parameters]
p = [1, 2]
n = {{from = 16, to = 32, factor = 2}}
machine = ["cray-t3d", "sparc-ethernet"]
[programs.life]
command = "{life} --rows {{n}} --cols {{n}}"
ranks = "{{p}}"
[ways.predict]
machine = "{{machine}}"
options = "--compute annotated"
[ways.replay]
kind = "simulate"
machine = "{{machine}}"
options = "--compute annotated"
[ways.model]
file = "life"
machine = "{{machine}}"
at = "p={{p}},d={{n}}"
[quantities]
alive = 'alive=(\\d+)'
"""
MEASURED = "[ways.measured]\n"
# Without ranks to start for each point.
QUICK = STUDY.replace('''[ways.predict]
machine = "{{machine}}"
options = "--compute annotated"
''', "")


def program_of(process):
    """Its file's name; empty if it has ended."""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return ""


class Study(harness.TestCase):
    def study(self, text=STUDY, name="s.toml"):
        return self.write(name, text.format(life=harness.paper_program("life")))

    def rows(self, *words, database="r.db"):
        return json.loads(self.foretrace("results", self.directory / database, "--json", *words).out)

    def run_study(self, study, database="r.db", *words, status=0):
        return self.foretrace("study", study, "-o", self.directory / database, *words, status=status, limit=150)

    def table(self, database="r.db"):
        """What does not depend on when and in which order it was run."""
        return sorted(repr(sorted((key, value) for key, value in row.items()
                                   if key in ("program", "way", "machine", "ranks", "n", "p", "alive", "launches")
                                   or (key == "time" and row["way"] != "measured")))
                      for row in self.rows("--where", "way != 'record'", database=database))

    whole = None

    def table_of_whole(self, study):
        """Of QUICK, when nothing interrupts it: the same in each test."""
        if Study.whole is None:
            self.run_study(study, "whole.db")
            Study.whole = self.table("whole.db")
        return Study.whole

    def test_keeps_and_compares(self):
        study = self.study(STUDY + MEASURED)
        plan = self.foretrace("study", study, "--dry-run")
        self.assertIn("28 points of 8 combinations", plan.out)
        self.assertFalse((self.directory / "r.db").exists())
        told = self.run_study(study).err
        self.assertIn("36 launches now", told)  # 3 x 8, 4 recordings, 4 x 2 measured
        rows = self.rows("--where", "ranks >= 2 and machine = \"cray-t3d\" and way = 'predict'")
        self.assertEqual([row["n"] for row in rows], [16, 32])
        self.assertEqual([row["alive"] for row in rows], [58, 193])
        measured = self.rows("--where", "way = 'measured'")
        self.assertEqual([row["launches"] for row in measured], [2] * 4)
        # Replays and predictions are the same to the picosecond, phase by phase.
        both = json.loads(self.foretrace("results", self.directory / "r.db", "--compare", "predict,replay",
                                         "--json").out)
        self.assertEqual(both["quantities"]["time"]["mean_error"], 0)
        self.assertEqual(len(both["quantities"]["time"]["points"]), 8)
        self.assertIn("phase_exchange", both["quantities"])
        beside = self.foretrace("results", self.directory / "r.db", "--compare", "measured,predict").out
        self.assertIn("mean error", beside)
        self.page_has_all_of_it(rows)
        # Once more: nothing is left to do.
        self.assertIn("0 launches now, 28 points known before", self.run_study(study).err)
        # Others read it without us.
        with sqlite3.connect(self.directory / "r.db") as database:
            self.assertEqual(database.execute("SELECT count(*) FROM launches").fetchone()[0], 36)
            host, version = database.execute("SELECT host, version FROM origins").fetchone()
            self.assertEqual(host, os.uname().nodename)
            self.assertEqual(len(database.execute("SELECT text FROM studies").fetchall()), 1)

    def test_every_way_on_real_programs(self):
        """A deterministic program has one time in all virtual ways; one whose messages race only runs live."""
        ring = self.write("ring.goal", "num_ranks 16\nrank all {\n  calc 100us\n  allreduce 8b\n}\n")
        study = self.write("w.toml", f"""
[study]
launches = [1, 1]
quiet_seconds = 0
[parameters]
p = [2, 3]
machine = ["cray-t3d", "sparc-ethernet"]
[programs.life]
command = "{harness.paper_program('life')} --rows 24 --cols 24"
ranks = "{{p}}"
[programs.farm]
command = "{harness.paper_program('taskfarm')} --tasks 10"
ranks = "{{p}}"
[programs.halo]
command = "{harness.build}/programs/models/model_halo --ranks {{p}} --steps 2 --bytes 8"
ranks = "{{p}}"
[ways.live]
programs = ["life", "farm"]
machine = "{{machine}}"
options = "--compute annotated"
[ways.predict]
programs = ["life"]
machine = "{{machine}}"
options = "--compute annotated"
[ways.replay]
kind = "simulate"
programs = ["life"]
machine = "{{machine}}"
options = "--compute annotated"
[ways.measured]
programs = ["life", "farm"]
[ways.text]
file = "{ring}"
machine = "{{machine}}"
[ways.command]
programs = ["halo"]
[quantities]
steps = 'steps=(\\d+)'
time = '^time +([0-9.]+) s$'
""")
        self.run_study(study, "w.db")
        rows = self.rows("--where", "kind != 'record'", database="w.db")
        times = {}
        for row in rows:
            times.setdefault((row["program"], row["way"]), {})[row.get("machine", ""), row["ranks"]] = row["time"]
            self.assertGreater(row["time"], 0)
            self.assertEqual("steps" in row and row["steps"] is not None, row["program"] == "farm")
        machines = [(machine, ranks) for machine in ("cray-t3d", "sparc-ethernet") for ranks in (2, 3)]
        for way in ("live", "predict", "replay"):
            self.assertEqual(sorted(times["life", way]), machines)
            self.assertEqual(times["life", way], times["life", "live"])
        self.assertEqual(sorted(times["farm", "live"]), machines)
        for program in ("life", "farm"):
            self.assertEqual(sorted(times[program, "measured"]), [("", 2), ("", 3)])
        # The file tells the ranks: 100 us, then what the data sheet says of 16.
        sheet = json.loads(self.foretrace("calc", "cray-t3d", "allreduce", "--ranks", 16, "--bytes", 8, "--json").out)
        self.assertAlmostEqual(times["ring", "text"]["cray-t3d", 16], 100e-6 + sheet["avg"], 12)
        self.assertEqual(sorted(times["halo", "command"]), [("", 2), ("", 3)])

    def test_a_failure_has_the_programs_own_reason(self):
        study = self.write("b.toml", f"""
[study]
quiet_seconds = 0
[programs.life]
command = "{harness.paper_program('life')} --bad 3"
ranks = 2
[ways.live]
machine = "cray-t3d"
[ways.predict]
machine = "cray-t3d"
[ways.simulate]
machine = "cray-t3d"
[ways.measured]
""")
        self.run_study(study, "b.db", status=1)
        with sqlite3.connect(self.directory / "b.db") as database:
            reasons = {row[0] for row in database.execute("SELECT message FROM details")}
        self.assertEqual(reasons, {"status 2: life: unknown option '--bad'; --help lists the options"})

    def page_has_all_of_it(self, rows):
        for name in ("page.html", "page.gp", "page.csv"):
            self.foretrace("results", self.directory / "r.db", "-o", self.directory / name)
        page = (self.directory / "page.html").read_text()
        self.assertIn("36 launches, 0 failed; 28 points with a result", page)
        for group in ("life, n = 16", "life, n = 32"):
            self.assertIn(f"<h3>{group}</h3>", page)
        self.assertEqual(page.count(">speed-up against the fewest ranks<"), 2)
        for part in ("[ways.replay]", os.uname().nodename, "predict, cray-t3d", ">measured<", ", exchange: ",
                     "No point has failed for good."):
            self.assertIn(part, page)
        for part in ("http:", "https:", "src="):
            self.assertNotIn(part, page)
        drawn = {(int(line.split()[0]), float(line.split()[1]))
                 for line in (self.directory / "page.gp").read_text().splitlines() if line[:1].isdigit()}
        self.assertLessEqual({(row["ranks"], row["time"]) for row in rows}, drawn)
        self.assertEqual((self.directory / "page.csv").read_text(),
                         self.foretrace("results", self.directory / "r.db", "--csv").out)
        for words in (["-o", "page.png"], ["-o", "page.html", "--json"], ["-o", "page.html", "--launches"]):
            self.assertEqual(harness.foretrace("results", self.directory / "r.db", *words).status, 2)

    def test_goes_on_after_it_was_killed(self):
        study = self.study(QUICK)
        whole = self.table_of_whole(study)
        for delay in (0.1, 0.3, 0.7, 1.0):
            process = subprocess.Popen([harness.tool(), "study", study, "-o", self.directory / "r.db"],
                                       stderr=subprocess.DEVNULL, env=harness.environment())
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.run_study(study)
        self.assertEqual(self.table(), whole)
        with sqlite3.connect(self.directory / "r.db") as database:
            twice = database.execute("SELECT point FROM launches WHERE status = 'done' AND kind != 'record' "
                                     "GROUP BY point HAVING count(*) > 1").fetchall()
        self.assertEqual(twice, [])

    def test_interrupted_leaves_no_rank(self):
        """Our own command is gone when the study is, and what its launcher has killed soon after."""
        study = self.study("""
[programs.life]
command = "{life} --rows 640 --cols 640 --iters 1000000"
ranks = 2
[ways.predict]
machine = "cray-t3d"
options = "--compute none"
""")
        process = subprocess.Popen([harness.tool(), "study", study, "-o", self.directory / "r.db"],
                                   stderr=subprocess.PIPE, text=True, env=harness.environment())
        self.addCleanup(harness.kill, process)
        end = time.monotonic() + 60
        while len(started := [one for one in harness.descendants(process.pid)
                              if program_of(one) == "life"]) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(len(started), 2)
        own = [one for one in harness.descendants(process.pid) if program_of(one) == "foretrace"]
        self.assertNotEqual(own, [])
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said),
                         (-signal.SIGINT, "foretrace: interrupted; the same command goes on\n"))
        self.assertEqual([one for one in own if program_of(one) == "foretrace"], [])
        end = time.monotonic() + 30
        while any(program_of(one) == "life" for one in started) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([one for one in started if program_of(one) == "life"], [])

    def test_spreads_over_ranks_and_arrays(self):
        study = self.study(QUICK)
        whole = self.table_of_whole(study)
        self.ok(harness.plain(3, [harness.tool(), "study", study, "-o", self.directory / "r.db"], limit=150))
        self.assertEqual(self.table(), whole)
        for part in (1, 2):
            self.run_study(study, "a.db", "--array", f"{part}/2")
        self.assertEqual(self.table("a.db"), whole)
        left = {path.name for path in self.directory.iterdir()}
        self.assertEqual({name for name in left if "part" in name or "lock" in name or "work" in name}, set())

    def test_a_failure_in_one_part_does_not_end_the_others(self):
        model = self.write("m.model", "total(n, p) = p/n\n")
        study = self.write("s.toml", "[parameters]\np = [1, 2, 3, 4]\nn = [0, 1, 2]\nmachine = 'cray-t3d'\n"
                           f"[ways.model]\nfile = '{model}'\nat = 'p={{p}},n={{n}}'\n")
        job = self.ok(harness.plain(2, [harness.tool(), "study", study, "-o", self.directory / "r.db"], limit=150))
        self.assertIn("2 failed", job.err)
        self.assertEqual(len(self.rows()), 8)
        self.assertEqual([path.name for path in self.directory.glob("r.db.*")], [])
        self.assertIn("8 points known before, 4 failed", self.run_study(study, status=1).err)

    def test_parts_do_not_take_what_others_use(self):
        """A part without points runs from its beginning to its end while another records."""
        words = [harness.tool(), "study", self.directory / "s.toml", "-o", self.directory / "r.db", "--array", "2/2"]
        program = self.write("program.sh", "env -u LD_PRELOAD -u FORETRACE_SESSION " + shlex.join(map(str, words)) +
                             f" >&2 && exec {harness.paper_program('life')} --rows 8 --cols 8\n")
        self.write("s.toml", f"""
[programs.life]
command = "sh {program}"
[ways.simulate]
machine = "cray-t3d"
record_options = "--mpi {harness.mpi}"
""")
        self.run_study(self.directory / "s.toml", "r.db", "--array", "1/2")
        self.assertEqual([row["way"] for row in self.rows()], ["record", "simulate"])

    def test_takes_in_what_a_killed_run_left(self):
        study = self.study(QUICK)
        whole = self.table_of_whole(study)
        self.run_study(study, "r.db", "--array", "1/2")
        (self.directory / "r.db").rename(self.directory / "r.db.part-7")
        (self.directory / "r.db.part-7.lock").touch()
        (self.directory / "r.db.part-8.work").mkdir()
        self.run_study(study, "r.db", "--array", "2/2")
        self.assertEqual(self.table(), whole)
        left = {path.name for path in self.directory.iterdir()}
        self.assertEqual({name for name in left if "part" in name or "lock" in name or "work" in name}, set())

    def test_tells_failures_and_goes_on(self):
        study = self.write("f.toml", "[parameters]\nn = [0, 1, 2]\nmachine = 'cray-t3d'\n"
                           "[ways.model]\nfile = '" + str(self.write("m.model", "total(n) = 1.0/n\n")) +
                           "'\nat = 'n={n}'\n")
        self.assertIn("1 failed", self.run_study(study, status=1).err)
        self.assertEqual([row["time"] for row in self.rows()], [1, 0.5])
        self.assertIn("divides by zero", self.foretrace("results", self.directory / "r.db", "--summary").out)
        self.foretrace("results", self.directory / "r.db", "-o", self.directory / "r.html")
        page = (self.directory / "r.html").read_text()
        self.assertIn("3 launches, 1 failed; 2 points with a result", page)
        self.assertIn("all their launches failed: 1.", page)
        self.assertIn("divides by zero", page)

    PREDICT = "[programs.a]\ncommand = 'sh'\n[ways.predict]\nmachine = 'cray-t3d'\n"

    def test_tells_parameters_that_change_nothing(self):
        study = self.write("s.toml", "[parameters]\np = [1, 2]\nq = [1, 2]\n[ways.model]\nfile = 'life'\n"
                           "machine = 'cray-t3d'\nat = 'p={p}'\n")
        self.assertIn("s.toml: nothing uses the parameter 'q'", self.foretrace("study", study, "--dry-run").err)

    def test_says_what_is_wrong_and_runs_nothing(self):
        for text, what in (("[ways.predict]\n", "s.toml:1: ways.predict"), ("[", "s.toml:1"),
                           ("[programs.a]\ncommand = '/no/such'\n[ways.live]\n", "there is no program /no/such"),
                           ("[programs.a]\ncommand = 'sh'\n[ways.predict]\nmachine = 'crey-t3d'\n", "s.toml:3: ways.predict: machine: there is no file 'crey-t3d', and no machine of that name; did you mean"),
                           (self.PREDICT + "options = '--compuet none'\n",
                            "s.toml:5: ways.predict: unknown option '--compuet'; did you mean '--compute'"),
                           (self.PREDICT.replace("predict", "simulate") + "record_options = '--clok wall'\n",
                            "did you mean '--clock'"),
                           ("[study]\nwhere = 'q > 1'\n[parameters]\np = 1\n" + self.PREDICT, "s.toml:2: where: there is no column 'q'"),
                           (self.PREDICT.replace("'sh'", "'sh'\nranks = 0"), "s.toml:1: programs.a: ranks: '0' is no number of ranks")):
            path = self.write("s.toml", text)
            result = harness.foretrace("study", path, "-o", self.directory / "r.db")
            self.assertIn(result.status, (1, 2))
            self.assertIn(what, result.err)
            self.assertFalse((self.directory / "r.db").exists())
        none = self.write("none.toml", "[study]\nwhere = 'p > 9'\n[parameters]\np = [1, 2]\n[ways.model]\n"
                          "file = 'life'\nmachine = 'cray-t3d'\nat = 'p={p}'\n")
        for words in (["--dry-run"], ["-o", self.directory / "r.db"]):
            result = harness.foretrace("study", none, *words)
            self.assertEqual(result.status, 2)
            self.assertIn("none.toml:2: where: it holds for none of the 2 combinations", result.err)
        self.assertFalse((self.directory / "r.db").exists())
        path = self.study()
        self.assertEqual(harness.foretrace("study", path).status, 2)
        self.assertEqual(harness.foretrace("study", path, "--dry-run", "--array", "3/2").status, 2)
        self.assertEqual(harness.foretrace("study", path, "-o", "x.db", "--array", "3/2").status, 2)

    def test_tells_wrong_values_before_anything_runs(self):
        """Each value that a parameter takes; of every way, with the line of the words."""
        base = ("[parameters]\np = [1, 2]\nword = ['RIGHT', 'WRONG']\n[programs.a]\ncommand = 'sh -c {p}'\nranks = '{p}'\n"
                "[ways.KIND]\nmachine = 'MACHINE'\noptions = 'OPTION {word}'\n")
        broken = self.directory / "broken.toml"
        broken.write_text("time_unit = 'us'\n[functions]\nsend = 3\n")
        for kind, option, right, wrong, what in (
                ("simulate", "--network", "datasheet", "bogus", "9: ways.simulate: --network bogus: there are datasheet,"),
                ("simulate", "--network", "datasheet", "flow", "9: ways.simulate: --network flow needs a topology"),
                ("simulate", "--topology", "torus:2x2", "tors:2", "tors"),
                ("live", "--loggps", "L=2us", "L=2parsecs", "9: ways.live: --loggps"),
                ("simulate", "--collectives", "openmpi", "bcast=guess", "guess"),
                ("predict", "--compute", "none", "guessed", "9: ways.predict: --compute guessed"),
                ("predict", "--compute", "none", "table:nowhere.toml", "nowhere.toml"),
                ("predict", "--ranks-per-node 2 --placement", "block", "blok", "blok"),
                ("live", "--compute", "none", "measured:fast", "9: ways.live: --compute measured:fast"),
                ("live", "--bound", "avg", "middle", "9: ways.live: --bound"),
                ("simulate", "--machine", "cray-t3d", str(broken), "broken.toml:2")):
            text = base.replace("KIND", kind).replace("OPTION", option).replace("RIGHT", right).replace("WRONG", wrong)
            text = text.replace("machine = 'MACHINE'", "# none" if option == "--machine" else "machine = 'cray-t3d'")
            for words in (["--dry-run"], ["-o", self.directory / "r.db"]):
                with self.subTest(kind=kind, option=option, wrong=wrong, words=words):
                    result = harness.foretrace("study", self.write("s.toml", text), *words)
                    self.assertIn(result.status, (1, 2))
                    self.assertIn("s.toml:9: ways." + kind + ": ", result.err)
                    self.assertIn(what, result.err)
                    self.assertEqual(list(self.directory.glob("r.db*")), [])
            self.foretrace("study", self.write("s.toml", text.replace(wrong, right)), "--dry-run")
        at = "[parameters]\nd = ['3', 'x']\n[ways.model]\nfile = 'life'\nmachine = 'cray-t3d'\nat = 'p=2,d={d}'\n"
        result = harness.foretrace("study", self.write("s.toml", at), "--dry-run")
        self.assertEqual(result.status, 2)
        self.assertIn("s.toml:3: ways.model: ", result.err)

    def test_survives_a_full_disk(self):
        """A file system of 300 KiB, where this system lets us have one."""
        study = self.study(QUICK)
        disk = self.directory / "disk"
        disk.mkdir()
        script = (f"mount -t tmpfs -o size=300k none {disk} && "
                  f"{{ {harness.tool()} study {study} -o {disk}/r.db; echo status $?; "
                  f"mount -o remount,size=64m {disk}; "
                  f"{harness.tool()} study {study} -o {disk}/r.db; echo status $?; "
                  f"{harness.tool()} results {disk}/r.db --json --where \"way != 'record'\"; }}")
        if harness.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", disk]).status != 0:
            self.skipTest("no mount namespaces here")
        result = self.ok(harness.run(["unshare", "-m", "sh", "-c", script], limit=150))
        first, _, rest = result.out.partition("status ")
        self.assertEqual(rest[0], "1", result)
        self.assertRegex(result.err, "full|No space left")
        self.assertIn("status 0", rest, result)
        self.assertEqual(len(json.loads(rest[rest.index("["):])), 16)


if __name__ == "__main__":
    harness.main()
