"""What commands write: the ending decides, what was written is said, nothing is lost.

    outputs_test.py FORETRACE SOURCE
"""

import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

GOAL = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n"


class Written(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "p.goal").write_text(GOAL)
        self.foretrace("simulate", "p.goal", "--machine", "cray-t3d", "-o", "p.ftr")

    def foretrace(self, *words, status=0):
        result = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True,
                                timeout=100, cwd=self.folder)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))


class Outputs(Written):
    def test_no_name(self):
        for command in (["record"], ["predict", "--machine", "cray-t3d"]):
            said = self.foretrace(*command, "-n", 2, "-o", "", "--", "true", status=2).stderr
            self.assertIn("expected a file's name, found ''", said)

    def test_where_no_file_can_be_made(self):
        """Although the folder may look writable (to root it does). Nothing is run."""
        for words in (["record", "-n", 2], ["predict", "-n", 2, "--machine", "cray-t3d"], ["profile", "-n", 2],
                      ["simulate", "-n", 2, "--machine", "cray-t3d"]):
            with self.subTest(words=words):
                output = "/proc/x.fprof" if words[0] == "profile" else "/proc/x.ftr"
                result = self.foretrace(*words, "-o", output, "--", "true", status=2)
                self.assertEqual((result.stdout, len(result.stderr.splitlines())), ("", 1), result.stderr)
                self.assertRegex(result.stderr, f"cannot write {output}: (no file can be made there: .|.* is not a writable)")

    def test_output_behind_the_program(self):
        for words, times in ((["-o", "x.ftr"], 1), (["-o", "x.dat"], 0), (["x.ftr"], 0)):
            said = subprocess.run([FORETRACE, "record", "-n", "1", "--mpi", "openmpi", "true", *words], capture_output=True,
                                  text=True, timeout=100, cwd=self.folder).stderr
            self.assertEqual(said.count("-o x.ftr stands behind the program and goes to it"), times, said)

    def test_what_is_no_trace_stays(self):
        """Such as a source file whose name was completed by mistake."""
        source = self.folder / "p.c"
        commands = (["record", "-n", 2], ["predict", "-n", 2, "--machine", "cray-t3d"], ["simulate", "-n", 2, "--machine", "cray-t3d"])
        for words, rest in (*((words, ["--", "true"]) for words in commands), (["simulate", "p.goal", "--machine", "cray-t3d"], []),
                            (["explain", "p.ftr", "--machine", "cray-t3d", "--zero-wait", "MPI_Recv"], [])):
            with self.subTest(words=words):
                source.write_text("int main(void) { return 0; }\n")
                said = self.foretrace(*words, "-o", "p.c", *rest, status=2).stderr
                self.assertIn("-o p.c: that file is there and is no trace", said)
                self.assertEqual(source.read_text(), "int main(void) { return 0; }\n")
        for words in ("p.ftr", "empty"):  # a trace is replaced, as is what mktemp made
            (self.folder / "empty").write_text("")
            self.foretrace("simulate", "p.goal", "--machine", "cray-t3d", "-o", words)

    def test_wrote(self):
        for words, file in ((["timeline", "p.ftr", "-o", "p.txt"], "p.txt"),
                            (["topology", "ring:4", "-o", "r.svg"], "r.svg"),
                            (["convert", "p.ftr", "p.csv", "--to", "text"], "p.csv"),
                            (["convert", "p.ftr", "-o", "q.txt"], "q.txt"),
                            (["calc", "cray-t3d", "send", "--bytes", "1..8", "--plot", "-o", "c.svg"], "c.svg"),
                            (["datasheet", "cray-t3d", "-o", "ds.txt"], "ds.txt"),
                            (["datasheet", "cray-t3d", "-o", "ds.tex"], "ds.tex"),
                            (["datasheet", "cray-t3d", "-o", "ds.html"], "ds.html"),
                            (["datasheet", "cray-t3d", "--format", "text", "-o", "folder"],
                             "folder/datasheet.txt")):
            with self.subTest(words=words):
                before = self.files()
                result = self.foretrace(*words)
                self.assertEqual(result.stderr, f"foretrace: wrote {file}\n")
                self.assertTrue((self.folder / file).is_file())
                more = set(self.files()) - set(before)
                self.assertEqual(more - {"folder"}, {file})

    def test_what_is_wrong_comes_first(self):
        """Nothing is said of where a trace will go that no program can make."""
        (self.folder / "foretrace.ftr").write_text("")
        for words in (["record", "-n", "2"], ["predict", "-n", "2", "--machine", "cray-t3d"]):
            result = self.foretrace(*words, "--", "./nosuch", status=2)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("cannot run ./nosuch", result.stderr)

    def test_machines_of_a_run(self):
        result = self.foretrace("machines", "p.ftr", status=2)
        self.assertIn("foretrace machines --run p.ftr", result.stderr)
        self.assertNotIn("p.ftr", self.foretrace("machines", "--help").stdout)

    def test_inputs_stay(self):
        """What would replace an input is refused in one line, by whatever name it goes; all stays."""
        self.foretrace("convert", "p.ftr", "p.txt")
        (self.folder / "m.toml").write_bytes((SOURCE / "machines/cray-t3d.toml").read_bytes())
        (self.folder / "other.ftr.part").write_bytes((self.folder / "p.ftr").read_bytes())
        (self.folder / "link.ftr").symlink_to("p.ftr")
        (self.folder / "hard.ftr").hardlink_to(self.folder / "p.ftr")
        (self.folder / "sub").mkdir()
        before = {name: (self.folder / name).read_bytes() for name in self.files() if name != "sub"}
        t3d = ["--machine", "cray-t3d"]
        for words in (["simulate", "p.goal", *t3d, "-o", "p.goal"],
                      ["simulate", "p.ftr", *t3d, "-o", "sub/../p.ftr"],
                      ["simulate", "p.ftr", *t3d, "-o", "link.ftr"],
                      ["simulate", "link.ftr", *t3d, "-o", "p.ftr"],
                      ["simulate", "hard.ftr", *t3d, "-o", "p.ftr"],
                      ["simulate", "other.ftr.part", *t3d, "-o", "other.ftr"],
                      ["simulate", "p.goal", "--machine", "m.toml", "-o", "m.toml"],
                      ["simulate", "p.ftr", *t3d, "--compute", "replayed:link.ftr", "-o", "hard.ftr"],
                      ["explain", "p.ftr", *t3d, "--set", "L=+1us", "-o", "p.ftr"],
                      ["explain", "p.goal", *t3d, "--better-placement", "p.goal"],
                      ["convert", "p.ftr", "p.ftr"], ["convert", "p.ftr", "hard.ftr", "--to", "text"],
                      ["convert", "p.txt", "p.txt", "--to", "trace"],
                      ["timeline", "p.ftr", "p.txt", "-o", "p.txt"],
                      ["report", "p.ftr", "-o", "p.ftr"], ["regions", "p.ftr", "-o", "p.ftr"],
                      ["datasheet", "m.toml", "-o", "m.toml"], ["results", "p.txt", "-o", "p.txt"],
                      ["record", "-n", 2, "-o", "p.ftr", "--", "./hard.ftr"],
                      ["study", "m.toml", "-o", "m.toml"], ["import", "osu", "2:p.txt", "-o", "p.txt"]):
            with self.subTest(words=words):
                result = self.foretrace(*words, status=2)
                self.assertRegex(result.stderr, rf"\Aforetrace: {words[0]}: the output [^ ]+ would replace the "
                                                r"input [^ ]+; choose another name for it\n\Z")
                self.assertEqual(result.stdout, "")
                self.assertEqual({name: (self.folder / name).read_bytes() for name in before}, before)

    def test_report_page(self):
        result = self.foretrace("report", "p.ftr", "-o", "page.html")
        self.assertEqual(result.stderr, "foretrace: wrote page-timeline.html\nforetrace: wrote page.html\n")
        self.assertIn('href="page-timeline.html', (self.folder / "page.html").read_text())
        result = self.foretrace("report", "p.ftr", "-o", "alone.html", "--no-timeline")
        self.assertEqual(result.stderr, "foretrace: wrote alone.html\n")
        self.assertNotIn("href", (self.folder / "alone.html").read_text())
        self.assertFalse((self.folder / "alone-timeline.html").exists())

        self.foretrace("report", "p.ftr", "-o", "beside.html", "--no-timeline", "--against", "p.ftr")
        self.assertIn("B takes as long as A", (self.folder / "beside.html").read_text())

    def test_comparison_page(self):
        result = self.foretrace("compare", "p.ftr", "p.ftr", "--against", "p.ftr", "-o", "both.html")
        self.assertEqual(result.stderr, "foretrace: wrote both-timeline.html\nforetrace: wrote both.html\n")
        self.assertIn('href="both-timeline.html', (self.folder / "both.html").read_text())
        page = (self.folder / "both-timeline.html").read_text()
        for name in ("A: p", "B: p"):
            self.assertIn(f'class="trace-head" data-name="{name}"', page)
        self.foretrace("compare", "p.ftr", "p.ftr", "-o", "pair.html", "--no-timeline")
        self.assertNotIn("href", (self.folder / "pair.html").read_text())

    def test_what_compare_refuses(self):
        for words, says in ((["p.ftr"], "expected two runs"), (["p.ftr", "p.ftr", "p.ftr"], "--against"),
                            (["p.ftr", "p.ftr", "--against", "p.ftr", "--level", "events"], "--level events"),
                            (["p.ftr", "p.ftr", "--no-timeline"], "output")):
            with self.subTest(words=words):
                error = self.foretrace("compare", *words, status=2).stderr
                self.assertIn(says, error)
                self.assertEqual(len(error.splitlines()), 1)

    def test_two_runs(self):
        self.foretrace("timeline", "p.ftr", "p.ftr", "-o", "two.html")
        page = (self.folder / "two.html").read_text()
        self.assertEqual(page.count('class="trace-head" data-name="p.ftr"'), 2)

    def test_endings(self):
        before = self.files()
        for words, says in ((["timeline", "p.ftr", "-o", "x.pdf"], ".html or .txt"),
                            (["timeline", "p.ftr", "p.ftr"], "give -o FILE.html"),
                            (["report", "p.ftr", "-o", "x.txt"], ".html"),
                            (["compare", "p.ftr", "p.ftr", "-o", "x.txt"], ".html"),
                            (["report", "p.ftr", "--no-timeline"], "output"),
                            (["timeline", "p.ftr", "p.ftr", "-o", "x.txt"], "give -o FILE.html"),
                            (["timeline", "p.ftr", "-o", "x.svg"], ".html or .txt"),
                            (["datasheet", "cray-t3d", "-o", "x.png"], ".html, .pdf, .tex or .txt"),
                            (["datasheet", "cray-t3d", "-o", "x.pdf", "--format", "html"], "--format"),
                            (["topology", "ring:4", "-o", "x.png"], ".svg"),
                            (["simulate", "p.goal", "--machine", "cray-t3d", "-o", "x.html"], ".ftr"),
                            (["regions", "p.ftr", "-o", "x.txt"], ".toml"),
                            (["measure", "-n", "2", "-o", "x.txt"], ".toml"),
                            (["record", "-n", "2", "-o", "x.html", "--", "true"], ".ftr"),
                            (["simulate", "p.goal", "--machine", "cray-t3d", "-o", "/dev/null"], "no regular file")):
            with self.subTest(words=words):
                error = self.foretrace(*words, status=2).stderr
                self.assertIn(says, error)
                self.assertEqual(len(error.splitlines()), 1)
        self.assertEqual(self.files(), before)
        self.assertFalse(pathlib.Path("/dev/null").is_file())

    def test_interrupted_simulation_leaves_nothing(self):
        lines = "".join(f"l{i}: calc 1\n" + (f"l{i} requires l{i - 1}\n" if i else "") for i in range(200_000))
        (self.folder / "long.goal").write_text(f"num_ranks 1\nrank 0 {{\n{lines}}}\n")
        before = self.files()
        for which, ending in ((signal.SIGINT, "part"), (signal.SIGTERM, "part"), (signal.SIGTERM, "new")):
            with self.subTest(signal=which, ending=ending):
                run = subprocess.Popen([FORETRACE, "simulate", "long.goal", "--machine", "cray-t3d", "-o", "l.ftr"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL)
                end = time.monotonic() + 60
                part = self.folder / f"l.ftr.{ending}"
                while run.poll() is None and not part.exists() and time.monotonic() < end:
                    time.sleep(0.001)
                run.send_signal(which)
                status = run.wait(60)
                (self.folder / "l.ftr").unlink(missing_ok=True)
                if status != 0:  # 0: it was over already
                    self.assertEqual(status, -which)
                self.assertEqual(self.files(), before)


class FullDisk(Written):
    def test_standard_output(self):
        """No status of 0 for a figure that nobody got."""
        full = open("/dev/full", "w")
        self.addCleanup(full.close)
        for words in (["calc", "cray-t3d", "all"], ["calc", "cray-t3d", "send", "--json"],
                      ["calc", "cray-t3d", "send", "--bytes", "1..64", "--plot"],
                      ["datasheet", "cray-t3d", "--format", "text"], ["machines"], ["coverage"], ["topology", "ring:4"],
                      ["report", "p.ftr"], ["report", "p.ftr", "--json"], ["timeline", "p.ftr"],
                      ["compare", "p.ftr", "p.ftr"], ["explain", "p.goal", "--machine", "cray-t3d"],
                      ["simulate", "p.goal", "--machine", "cray-t3d"], ["help"], ["help", "report"], ["--version"]):
            with self.subTest(words=words):
                result = subprocess.run([FORETRACE, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=100, cwd=self.folder)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr.splitlines()[-1],
                                 "foretrace: cannot write the output: No space left on device")

    def test_files(self):
        """What was there before stays, and nothing half is left."""
        most = 100  # bytes
        self.foretrace("convert", "p.ftr", "c.txt")
        for words in (["simulate", "p.goal", "--machine", "cray-t3d", "-o", "old.ftr"],
                      ["convert", "p.ftr", "old.txt"], ["convert", "c.txt", "old.ftr"],
                      ["timeline", "p.ftr", "-o", "old.txt"], ["timeline", "p.ftr", "-o", "old.html"],
                      ["datasheet", "cray-t3d", "-o", "old.html"], ["datasheet", "cray-t3d", "-o", "old.txt"],
                      ["datasheet", "cray-t3d", "-o", "old.tex"], ["topology", "ring:64", "-o", "old.svg"],
                      ["calc", "cray-t3d", "send", "--bytes", "1..1m", "--plot", "-o", "old.svg"]):
            with self.subTest(words=words):
                old = self.folder / words[-1]
                precious = ("FORETRC\n" if old.suffix == ".ftr" else "") + "precious"
                old.write_text(precious)
                before = self.files()
                result = subprocess.run([FORETRACE, *words], capture_output=True, text=True, timeout=100, cwd=self.folder,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.assertEqual(result.returncode, 1, result.stderr)
                said = result.stderr.splitlines()
                self.assertRegex(said[-1], rf"^foretrace: .*{old.name}.*(cannot|could not).*(File too large|No space left)")
                self.assertNotIn("predicted time", result.stdout)
                self.assertNotIn("wrote", result.stderr)
                self.assertEqual(old.read_text(), precious)
                self.assertEqual(self.files(), before)


class Interrupts(unittest.TestCase):
    """A program that we wait for: it gets the signal, and we end by it as well."""

    def interrupt(self, folder, which, *words):
        """The tool, which gets a signal as soon as what it runs has made the file `started`."""
        run = subprocess.Popen([FORETRACE, *words], cwd=folder, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": folder})
        started = pathlib.Path(folder, "started")
        end = time.monotonic() + 30
        while not started.exists() and time.monotonic() < end:
            time.sleep(0.01)
        run.send_signal(which)
        _, said = run.communicate(timeout=30)
        self.assertEqual(run.returncode, -which)
        started.unlink()
        return said

    def test_measure(self):
        """Also where the launcher ends with 0, as MPICH's does."""
        for script in ("touch started\nexec sleep 100",
                       "trap 'kill $!; exit 0' INT TERM\nsleep 100 &\nuntil grep -q sleep /proc/$!/comm; do :; done\n"
                       "touch started\nwait"):
            with tempfile.TemporaryDirectory() as folder:
                launcher = pathlib.Path(folder, "launch")
                launcher.write_text(f"#!/bin/sh\n{script}\n")
                launcher.chmod(0o755)
                for which in (signal.SIGINT, signal.SIGTERM):
                    with self.subTest(signal=which, script=script):
                        said = self.interrupt(folder, which, "measure", "-n", "2", "--launch", "./launch", "-o",
                                              "m.toml")
                        self.assertEqual(said.splitlines()[1:], ["foretrace: interrupted; the same command goes on"])
                        self.assertEqual(os.listdir(folder), ["launch"])

    def test_study_of_another_file(self):
        """What was refused leaves nothing beside the file that it was refused for."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.toml").write_text(
                "[parameters]\np = [1]\n[programs.none]\ncommand = \"sh -c 'echo time {p}'\"\n"
                "[quantities]\ntime = 'time (.*)'\n[ways.command]\n")
            pathlib.Path(folder, "other.db").write_text("no database " * 100)
            run = subprocess.run([FORETRACE, "study", "s.toml", "-o", "other.db"], cwd=folder, capture_output=True,
                                 text=True, timeout=100)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["other.db", "s.toml"])

    def test_study(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.toml").write_text(
                "[parameters]\np = [1, 2]\n[programs.slow]\ncommand = \"sh -c 'touch started; sleep 10{p}'\"\n"
                "[quantities]\ntime = 'time (.*)'\n[ways.command]\n")
            said = self.interrupt(folder, signal.SIGINT, "study", "s.toml", "-o", "s.db")
            self.assertEqual(said, "foretrace: interrupted; the same command goes on\n")

    def test_study_leaves_no_process(self):
        """What a script has started ends with the study, and is over when the study is."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.toml").write_text(
                "[parameters]\np = [1]\n[programs.slow]\n"
                "command = \"sh -c 'sleep 10{p} & echo $! > pid; touch started; wait'\"\n"
                "[quantities]\ntime = 'time (.*)'\n[ways.command]\n")
            for which in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(signal=which):
                    self.interrupt(folder, which, "study", "s.toml", "-o", "s.db")
                    process = pathlib.Path(folder, "pid").read_text().strip()
                    state = subprocess.run(["ps", "-o", "stat=", process], capture_output=True, text=True).stdout
                    self.assertIn(state[:1], ("", "Z"), "the script's program runs on")
                    with sqlite3.connect(pathlib.Path(folder, "s.db")) as database:
                        self.assertEqual(database.execute("SELECT count(*) FROM launches").fetchone(), (0,))


if __name__ == "__main__":
    # Shells let what they run in the background ignore it, and so would all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    FORETRACE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
