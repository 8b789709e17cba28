"""A run under way is watched: a rank that is stopped is named, in the terminal and on the page.

    watch_test.py FORETRACE SOURCE MPI
"""

import http.client
import json
import os
import pathlib
import re
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
PATIENCE = 60  # seconds; bench/web/run_watch.py measures how soon a rank is named


class Watched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        subprocess.run([f"mpicc.{MPI}", "-O1", "-g", "-o", str(cls.folder / "neighbours"),
                        f"{SOURCE}/neighbours.c"], check=True, timeout=100)

    def setUp(self):
        for left in self.folder.glob("pid.*"):
            left.unlink()
        (self.folder / "STOP").unlink(missing_ok=True)
        self.lines = []
        self.seen = 0
        self.run_ = subprocess.Popen(
            [FORETRACE, "watch", "-n", str(RANKS), "-o", "w.ftr", "--every", "0.5", "--", "./neighbours"],
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.run_.stderr:
            self.lines.append(line)

    def end(self):
        if self.run_.poll() is None:
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

    def test_a_stopped_rank_is_named(self):
        found = self.line(r"watch at (\S+)")
        self.address = urllib.parse.urlparse(found.group(1))
        self.assertEqual(self.address.hostname, "127.0.0.1")
        self.assertRegex(self.address.path, r"^/[0-9a-f]{32}/$")
        limit = time.monotonic() + 60
        while len(list(self.folder.glob("pid.*"))) < RANKS and time.monotonic() < limit:
            time.sleep(0.1)
        self.line(r"s: \d+ computing|in MPI_Recv")

        process = int((self.folder / f"pid.{STOPPED}").read_text())
        os.kill(process, signal.SIGSTOP)
        try:
            self.line(rf"rank {STOPPED} is STOPPED \(process {process}\)")
            # The others come to a stand: the next in the ring waits for it, the one before has sent.
            self.line(rf"rank {STOPPED} is STOPPED.* wait.* for it, rank {STOPPED - 1} has sent to it")
            ranks = self.state()["ranks"]
            self.assertEqual(ranks[STOPPED]["process"], process)
            waiting = [rank["rank"] for rank in ranks if STOPPED in rank["waits_for"]]
            self.assertIn(STOPPED + 1, waiting)
            self.assertEqual([sender for sender, _ in ranks[STOPPED]["unread"]], [STOPPED - 1])
            self.check_server()
        finally:
            os.kill(process, signal.SIGCONT)
        self.line(r"s: (?!.*STOPPED)")
        (self.folder / "STOP").touch()
        self.assertEqual(self.run_.wait(timeout=60), 0)
        told = subprocess.run([FORETRACE, "report", "w.ftr", "--json"], cwd=self.folder, check=True,
                              capture_output=True, text=True, timeout=60).stdout
        self.assertEqual(json.loads(told)["ranks"], RANKS)

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
