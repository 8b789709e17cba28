"""bench/accuracy/opensbli.py: what its pattern sends, against the tool's count and the published profile.

    opensbli_test.py BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/accuracy"))
import opensbli  # noqa: E402

TOOL = pathlib.Path(sys.argv.pop()) / "bin/foretrace"


class Pattern(unittest.TestCase):
    def test_a_message_to_one_side(self):
        # Two layers of 8 bytes, 66 x 68 x 2 points with the borders of the other dimensions.
        self.assertEqual(opensbli.border([64, 62, 64], 0, 3), 8 * 2 * 3 * 66 * 68)

    def test_the_text_program_sends_what_is_counted(self):
        grid = (3, 2, 4)  # 1024 is no multiple of 3: sides are rounded down alike
        with tempfile.TemporaryDirectory() as folder:
            path, trace = (pathlib.Path(folder, name) for name in ("x.goal", "x.ftr"))
            path.write_text(opensbli.program(grid))
            subprocess.run([TOOL, "simulate", path, "--loggps", "L=1us", "-o", trace], check=True, capture_output=True)
            report = json.loads(subprocess.run([TOOL, "report", trace, "--json"], check=True, capture_output=True,
                                               text=True).stdout)
        self.assertAlmostEqual(report["message_bytes"] / 24 / opensbli.ITERATIONS, opensbli.sent_a_rank(grid), places=3)

    def test_the_profile_of_the_real_run_counted_the_same(self):
        # CrayPat, 4,096 ranks, 100 iterations: 4.210e12 bytes, 66.94 % of all.
        counted = 4.210e12 / 0.6694 / 4096 / 100
        self.assertLess(abs(opensbli.sent_a_rank((16, 16, 16)) / counted - 1), 0.01)

    def test_planes_stay_in_the_cache_from_2048_ranks_on(self):
        sizes = {grid: opensbli.bytes_a_point([1024 // side for side in grid], True)
                 for grid in ((16, 8, 8), (16, 16, 8))}
        self.assertEqual(sizes[16, 16, 8], opensbli.bytes_a_point([64, 64, 128], False))
        # By hand: (5+10) + 9 (1+2) + (19+10) + (10+10) + (5+10) doubles, three times, and 15 once.
        self.assertEqual(sizes[16, 16, 8], 8 * (3 * (15 + 27 + 29 + 20 + 15) + 15))
        self.assertEqual(sizes[16, 8, 8] - sizes[16, 16, 8], 8 * 3 * 4 * 14)


if __name__ == "__main__":
    unittest.main()
