"""A run under way is watched: a rank that is stopped is named, in the terminal and on the page.

    watch_test.py FORETRACE SOURCE MPI
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

FORETRACE, SOURCE, MPI = sys.argv[1:4]
RANKS = 32
STOPPED = 5
PATIENCE = 60  # seconds
SOON = 2  # seconds within which a stopped rank is named, on a machine that has time for it
OUTPUT = {"profile": "w.fprof"}
# What watches a run that it starts itself.
WATCHERS = {
    "watch": ["watch"],
    "record": ["record", "--watch"],
    "predict": ["predict", "--watch", "--machine", "cray-t3d"],
    "profile": ["profile", "--watch"],
    "simulate": ["simulate", "--watch", "--machine", "cray-t3d", "--compute", "none"],
}


class Watched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        subprocess.run([f"mpicc.{MPI}", "-O1", "-g", "-o", str(cls.folder / "neighbours"),
                        f"{SOURCE}/neighbours.c"], check=True, timeout=100)

    def start(self, words, ranks=RANKS, details=("--every", "0.5")):
        """Runs the program, and reads what is said of it."""
        for left in self.folder.glob("pid.*"):
            left.unlink()
        (self.folder / "STOP").unlink(missing_ok=True)
        self.lines = []
        self.seen = 0
        self.ranks = ranks
        self.output = OUTPUT.get(words[0], "w.ftr")
        command = [FORETRACE, *words, "-n", str(ranks), "-o", self.output, *details, "--", "./neighbours"]
        self.run_ = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.run_.stderr:
            self.lines.append(line)

    def end(self):
        if self.run_.poll() is None:
            # Ranks that outlive the tool would hold its standard error open.
            for file in self.folder.glob("pid.*"):
                with contextlib.suppress(ProcessLookupError, ValueError):
                    os.kill(int(file.read_text()), signal.SIGKILL)
            self.run_.kill()
        self.run_.wait()
        self.reader.join()
        self.run_.stderr.close()

    def line(self, pattern):
        """The match of the next line with the pattern."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            while self.seen < len(self.lines):
                self.seen += 1
                found = re.search(pattern, self.lines[self.seen - 1])
                if found:
                    return found
            time.sleep(0.02)
        self.fail(f"no {pattern!r} within {PATIENCE} s in {self.lines[-5:]}")

    def ask(self, path, **headers):
        host, port = self.address.hostname, self.address.port
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def state(self):
        status, body = self.ask(self.address.path + "state")
        self.assertEqual(status, 200)
        return json.loads(body)

    def find_page(self):
        self.address = urllib.parse.urlparse(self.line(r"watch at (\S+)").group(1))
        self.assertEqual(self.address.hostname, "127.0.0.1")
        self.assertRegex(self.address.path, r"^/[0-9a-f]{32}/$")

    def wait_for_ranks(self):
        limit = time.monotonic() + PATIENCE
        while len(list(self.folder.glob("pid.*"))) < self.ranks and time.monotonic() < limit:
            time.sleep(0.1)

    def finish(self):
        (self.folder / "STOP").touch()
        self.assertEqual(self.run_.wait(timeout=PATIENCE), 0)
        self.reader.join()
        self.run_.stderr.close()

    def stop_a_rank(self):
        """Seconds until the terminal has named it, and until the page is told."""
        process = int((self.folder / f"pid.{STOPPED}").read_text())
        self.seen = len(self.lines)
        began = time.monotonic()
        os.kill(process, signal.SIGSTOP)
        while "process" not in self.state()["ranks"][STOPPED]:
            self.assertLess(time.monotonic() - began, PATIENCE)
            time.sleep(0.05)
        page = time.monotonic() - began
        self.line(rf"rank {STOPPED} is STOPPED \(process {process}\)")
        return process, max(page, time.monotonic() - began)

    def test_a_stopped_rank_is_named(self):
        self.start(WATCHERS["watch"])
        self.find_page()
        self.wait_for_ranks()
        self.line(r"s: \d+ computing|in MPI_Recv")
        # On a machine that is busy otherwise, the quickest of a few.
        took = []
        for _ in range(6):
            process, seconds = self.stop_a_rank()
            took.append(seconds)
            try:
                # The others come to a stand: the next in the ring waits for it, the one before has sent.
                self.line(rf"rank {STOPPED} is STOPPED.* wait.* for it, rank {STOPPED - 1} has sent to it")
                ranks = self.state()["ranks"]
                self.assertEqual(ranks[STOPPED]["process"], process)
                waiting = [rank["rank"] for rank in ranks if STOPPED in rank["waits_for"]]
                self.assertIn(STOPPED + 1, waiting)
                self.assertEqual([sender for sender, _ in ranks[STOPPED]["unread"]], [STOPPED - 1])
                if len(took) == 1:
                    self.check_server()
            finally:
                os.kill(process, signal.SIGCONT)
            self.line(r"s: (?!.*STOPPED)")
            if took[-1] <= SOON:
                break
        print("named after", ", ".join(f"{seconds:.2f} s" for seconds in took))
        self.assertLessEqual(min(took), SOON)
        self.finish()
        told = subprocess.run([FORETRACE, "report", "w.ftr", "--json"], cwd=self.folder, check=True,
                              capture_output=True, text=True, timeout=60).stdout
        self.assertEqual(json.loads(told)["ranks"], RANKS)

    def test_what_starts_runs_watches_them(self):
        for name, words in WATCHERS.items():
            if name == "watch":
                continue
            with self.subTest(command=name):
                self.start(words, ranks=8)
                self.find_page()
                self.wait_for_ranks()
                self.line(r"s: \d+ computing|in MPI_Recv")
                process, _ = self.stop_a_rank()
                try:
                    # In virtual time it may be another one that comes next.
                    who = ".*" if name == "simulate" else rf".*\b{STOPPED + 1}\b.*"
                    self.line(rf"rank {STOPPED} is STOPPED.*, rank{who} wait.* for it")
                    told = self.state()
                    self.assertIn("MPI_Recv", [function for function, *_ in told["functions"]])
                    self.assertEqual(told["clock"], {"record": "cpu", "profile": "wall"}.get(name, "virtual"))
                finally:
                    os.kill(process, signal.SIGCONT)
                self.line(r"s: (?!.*STOPPED)")
                self.finish()
                self.assertTrue((self.folder / self.output).exists())

    def test_without_a_page(self):
        self.start(WATCHERS["record"], ranks=2, details=("--no-browser", "--every", "0.2"))
        self.line(r"s: \d+ computing|in MPI_Recv")
        self.finish()
        self.assertNotIn("http", "".join(self.lines))

    def test_a_run_under_way_is_attached_to(self):
        for name, words in (("record", ["record", "--clock", "wall"]), ("predict", ["predict", "--machine", "cray-t3d"]),
                            ("profile", ["profile"]),
                            ("simulate", ["simulate", "--machine", "cray-t3d", "--compute", "none"])):
            for named in ("part", "trace"):
                with self.subTest(command=name, named=named):
                    self.start(words, ranks=4, details=())
                    self.wait_for_ranks()
                    self.check_attached(self.output + (".part" if named == "part" else ""))

    def check_attached(self, word):
        beside = subprocess.Popen([FORETRACE, "watch", word, "--every", "0.2", "--no-browser"], cwd=self.folder,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(beside.stderr.close)
        self.addCleanup(beside.wait)
        self.addCleanup(beside.kill)
        for line in beside.stderr:
            if re.search(r"s: \d+ computing.*MPI_", line):
                break
        self.finish()
        told = beside.stderr.read()
        self.assertEqual(beside.wait(timeout=PATIENCE), 0, told)
        self.assertRegex(told, rf"foretrace: the run has ended -> {self.output}\n$")
        self.assertNotIn("has died", told)
        gone = subprocess.run([FORETRACE, "watch", word], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(gone.returncode, 1)
        self.assertIn(f"{self.output}.part: no such file; the run that left {self.output} has ended", gone.stderr)

    def test_a_run_that_died_is_said(self):
        self.start(["record"], ranks=2, details=())
        self.wait_for_ranks()
        part = self.folder / "w.ftr.part"
        (self.folder / "left.ftr.part").write_bytes(part.read_bytes())
        self.finish()
        beside = subprocess.Popen([FORETRACE, "watch", "left.ftr.part", "--no-browser"], cwd=self.folder, stderr=subprocess.PIPE,
                                  text=True)
        self.addCleanup(beside.stderr.close)
        self.addCleanup(beside.wait)
        self.addCleanup(beside.kill)
        for line in beside.stderr:
            if "no process of this host writes left.ftr.part" in line:
                break
        else:
            self.fail("not said")

    def test_what_is_no_part_file(self):
        for name in ("x.ftr.part", "x.fprof.part"):
            (self.folder / name).write_bytes(b"no trace and no profile " * 100)
            told = subprocess.run([FORETRACE, "watch", name, "--no-browser"], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(told.returncode, 1)
            self.assertIn(name, told.stderr)
            self.assertNotIn("nothing is known", told.stderr)

    def test_wrong_use(self):
        for words, says in ((["record", "--every", "1", "-n", "2", "--", "true"], "--every requires --watch"),
                            (["watch", "run.ftr", "--help"], "not expected: --help"),
                            (["watch", "x.ftr.part", "--evry", "1"], "--evry"),
                            (["watch", "--", "true"], "give -n RANKS and a program"),
                            (["simulate", "--watch", "--machine", "cray-t3d", "-n", "2", "--", "true"], "say -o P.ftr"),
                            (["simulate", "x.ftr", "--watch"], "--watch alone, with -n")):
            with self.subTest(words=words):
                told = subprocess.run([FORETRACE, *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertEqual(told.returncode, 2, told.stderr)
                self.assertIn(says, told.stderr)

    def test_the_library_that_serves_is_missing(self):
        alone = self.folder / "alone" / "bin" / "foretrace"
        alone.parent.mkdir(parents=True)
        shutil.copy(FORETRACE, alone)
        told = subprocess.run([alone, "architecture", "edit", "new.arch.toml"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertRegex(told.stderr, r"^foretrace: .*/alone/lib/foretrace/libforetrace-server.so: .*; the library serves .* install")

    def check_server(self):
        status, page = self.ask(self.address.path)
        self.assertEqual(status, 200)
        self.assertIn("<title>Watch</title>", page)
        own = self.address.path
        for path in ("/", "/state", "/" + "0" * 32 + "/", own + "w.ftr", own + "../w.ftr", own + "%2e%2e/w.ftr"):
            self.assertEqual(self.ask(path)[0], 404, path)
        # A page from elsewhere that calls our address by its own name.
        self.assertEqual(self.ask(own, Host="elsewhere.example")[0], 404)
        # Other addresses of this host are not served.
        for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}:
            with self.assertRaises(OSError):
                socket.create_connection((address, self.address.port), timeout=2).close()
        # What is no request does no harm.
        for noise in (b"\r\n\r\n", b"\0" * 5000, b"GET " + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b"\xff\xfe\r\n" * 50,
                      b"POST " + own.encode() + b" HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"):
            with socket.create_connection((self.address.hostname, self.address.port), timeout=5) as connection:
                connection.sendall(noise)
        self.assertEqual(self.ask(own + "state")[0], 200)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
