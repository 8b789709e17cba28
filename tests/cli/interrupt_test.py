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

    def interrupt(self, which, *words):
        """Sends the signal as soon as something is there; what it was."""
        process = subprocess.Popen([FORETRACE, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(self.folder / "tmp")},
                                   preexec_fn=lambda: signal.signal(which, signal.SIG_DFL))
        there = []
        while process.poll() is None and not there:
            time.sleep(0.001)
            there = self.left()
        process.send_signal(which)
        self.assertEqual(process.wait(60), -which, words)
        return there

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
                    there = self.interrupt(which, *words)
                    self.assertTrue(any(one.startswith(name) for one in there), there)
                    self.assertEqual(self.left(), [])


if __name__ == "__main__":
    FORETRACE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
