"""Commands that go through traces which are larger than what they may keep of them.

memory_test.py FORETRACE SOURCE
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Half a million events, of which each takes more than 200 bytes in memory.
GOAL = """num_ranks 16
rank all {
  repeat 7000 {
    send 8KiB to (me+1)%size; send 8KiB to (me-1)%size
    recv 8KiB from (me+1)%size; recv 8KiB from (me-1)%size
    wait
    calc 100us
  }
}
"""
MOST_MEMORY = 100 << 20


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="foretrace-memory-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_tool(self, *words):
        """What it says, and how much memory it took at most, in bytes."""
        process = subprocess.Popen([FORETRACE, *words], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        self.assertEqual(process.returncode, 0)
        return out, 1024 * used.ru_maxrss

    def test_compare(self):
        (self.folder / "ring.goal").write_text(GOAL)
        (self.folder / "longer.goal").write_text(GOAL.replace("calc 100us\n  }", "calc 100us\n  }\n  calc 5ms"))
        for name in ("ring", "longer"):
            self.run_tool("simulate", f"{name}.goal", "--machine", "cray-t3d", "-o", f"{name}.ftr")
        for words in ([], ["--level", "ranks"], ["--level", "phases"]):
            out, memory = self.run_tool("compare", "ring.ftr", "longer.ftr", "--json", *words)
            self.assertLess(memory, MOST_MEMORY, words)
            said = json.loads(out)
            self.assertTrue(said["same_structure"])
            self.assertAlmostEqual(said["time"]["difference"], 5e-3, places=9)

    def test_text_timeline(self):
        (self.folder / "ring.goal").write_text(GOAL)
        self.run_tool("simulate", "ring.goal", "--machine", "cray-t3d", "-o", "ring.ftr")
        out, memory = self.run_tool("timeline", "ring.ftr", "--width", "40")
        self.assertLess(memory, MOST_MEMORY)
        self.assertIn("16 ranks, ", out)
        self.assertEqual(out.count("w" * 36), 17, out)  # 16 ranks and All: messages take longer than computing


if __name__ == "__main__":
    FORETRACE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
