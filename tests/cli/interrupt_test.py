"""A command that is interrupted leaves nothing half made, and ends by the signal.

interrupt_test.py FORETRACE SOURCE
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GOAL = """num_ranks 16
rank all {
  repeat 20000 {
    send 8KiB to (me+1)%size
    recv 8KiB from (me-1)%size
    wait
    calc 100us
  }
}
"""


class Interrupt(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interrupt-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "out").mkdir()
        (self.folder / "tmp").mkdir()
        (self.folder / "ring.goal").write_text(GOAL)
        subprocess.run([FORETRACE, "simulate", "ring.goal", "--machine", "cray-t3d", "-o", "ring.ftr"], cwd=self.folder,
                       check=True, capture_output=True)

    def left(self):
        return sorted(path.name for where in ("out", "tmp") for path in (self.folder / where).iterdir())

    def interrupt(self, which, name, *words, tries=5):
        """Sends the signal as soon as something is there whose name begins so."""
        process = subprocess.Popen([FORETRACE, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(self.folder / "tmp")},
                                   preexec_fn=lambda: signal.signal(which, signal.SIG_DFL))
        there = False
        while process.poll() is None and not there:
            time.sleep(0.001)
            there = any(one.startswith(name) for one in self.left())
        process.send_signal(which)
        status = process.wait(60)
        if status == 0 and tries > 1:  # it was quicker than we
            for where in ("out", "tmp"):
                shutil.rmtree(self.folder / where)
                (self.folder / where).mkdir()
            return self.interrupt(which, name, *words, tries=tries - 1)
        self.assertTrue(there, words)
        self.assertEqual(status, -which, words)

    def test_what_is_half_made_is_removed(self):
        subprocess.run([FORETRACE, "convert", "ring.ftr", "ring.prv"], cwd=self.folder, check=True, capture_output=True)
        cases = [(["convert", "ring.ftr", f"out/ring.{ending}"], f"ring.{ending}.new")
                 for ending in ("csv", "json", "prv", "txt")]
        cases += [(["convert", "ring.prv", "out/back.ftr"], "back.ftr.part"),
                  (["simulate", "ring.goal", "--machine", "cray-t3d", "-o", "out/again.ftr"], "again.ftr.part"),
                  (["report", "ring.prv"], "foretrace-")]
        formats = subprocess.run([FORETRACE, "convert", "--help"], capture_output=True, text=True).stdout
        if "otf2" in formats:
            cases.append((["convert", "ring.ftr", "out/ring.otf2"], "ring.otf2.part"))
        for words, name in cases:
            for which in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(words=words, signal=which.name):
                    self.interrupt(which, name, *words)
                    self.assertEqual(self.left(), [])


if __name__ == "__main__":
    FORETRACE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
