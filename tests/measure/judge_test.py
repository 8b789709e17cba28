#!/usr/bin/env python3
"""What the scripts of bench/measure make of numbers.

    judge_test.py SOURCE_DIRECTORY
"""

import pathlib
import sys
import tempfile
import tomllib
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "bench/measure"))

import launches  # noqa: E402
import validate  # noqa: E402

LAUNCH = """# clock_ns 23.0
# before bounce_ns 50.0 copy_bytes_per_ns 40.00
send,8,4e-08,1
send,8,9e-08,0
send,8,6e-08,1
# after bounce_ns 60.0 copy_bytes_per_ns 40.00
"""

SAMPLES = """# launch_1_state = used
# launch_2_state = left out: another state
function,ranks,bytes,launch,seconds,kept
send,2,8,1,1e-06,1
send,2,8,1,3e-06,1
send,2,8,1,9e-06,0
send,2,8,2,9e-06,1
send,2,8,3,4e-06,1
send,4,8,3,9e-06,1
barrier,2,0,1,5e-06,1
"""


class Judge(unittest.TestCase):
    def test_middle_is_the_mean_of_the_middle_half(self):
        self.assertEqual(launches.middle([5.0]), 5)
        self.assertEqual(launches.middle([1.0, 3.0]), 2)
        self.assertEqual(launches.middle([100.0, 2.0, 4.0, 0.0]), 3)
        # What alternates is averaged.
        self.assertEqual(launches.middle([1.0, 2.0] * 8), 1.5)

    def test_launch(self):
        launch = launches.Launch(LAUNCH)
        self.assertEqual(launch.bounce, [50, 60])
        self.assertEqual((launch.disturbed, launch.total), (1, 3))
        self.assertAlmostEqual(launch.middle(("send", 8)), 5e-8)
        self.assertIsNone(launch.middle(("send", 9)))

    def test_samples_of_used_launches_and_two_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.samples.csv"
            path.write_text(SAMPLES)
            samples = launches.Samples(path)
        # Launch 1: 2 us, launch 3: 4 us.
        self.assertAlmostEqual(samples.middles()["send", 8], 3e-6)
        self.assertEqual(samples.sizes, {0, 8})

    def test_states(self):
        self.assertTrue(launches.same_state([50, 60], 55))
        self.assertFalse(launches.same_state([50, 100], 55))
        self.assertFalse(launches.same_state([30], 55))

    def test_sizes_are_unseen_and_repeatable(self):
        taken = set(range(1, 100))
        sizes = validate.random_sizes(30, 1, taken)
        self.assertEqual(sizes, validate.random_sizes(30, 1, taken))
        # In the order of drawing: fewer are the first of more.
        self.assertEqual(sizes[:20], validate.random_sizes(20, 1, taken))
        self.assertNotEqual(sizes, validate.random_sizes(30, 2, taken))
        self.assertEqual(len(set(sizes)), 30)
        self.assertGreater(min(sizes), 99)
        self.assertLessEqual(max(sizes), 4 << 20)
        self.assertTrue(all(s % 8 == 0 for s in validate.random_sizes(30, 1, set(), 8)))

    def test_twelve_forms(self):
        # Elements of 8 bytes, microseconds.
        model = {"machine": {"time_unit": "us", "element_bytes": 8}}
        regimes = [{"bytes": [0, 255], "c": 10, "s": [3, 0.5], "f": "p^2"},
                   {"bytes": [256], "c": [1, 0.1], "k": 2, "g": "p d"}]
        self.assertAlmostEqual(validate.twelve_forms(model, regimes, 8), 22e-6)    # 10 + 3 * 4
        self.assertAlmostEqual(validate.twelve_forms(model, regimes, 256), 129e-6)  # 1 + 2 * 2 * 32
        negative = [{"bytes": [0, 8], "c": -5}]
        self.assertEqual(validate.twelve_forms(model, negative, 8), 0)

    def test_shipped_machine_is_read(self):
        model = tomllib.loads((SOURCE / "machines/sparc-ethernet.toml").read_text())
        barrier = next(f for f in model["function"] if f["name"] == "barrier")
        # 9000 p microseconds.
        self.assertAlmostEqual(validate.twelve_forms(model, barrier["regime"], 0), 18e-3)

    def test_shares_count_every_launch_at_every_size(self):
        # The middles of send at 8 bytes are 50, 50 and 90 ns.
        several = [launches.Launch(LAUNCH), launches.Launch(LAUNCH), launches.Launch("send,8,9e-08,1\nrecv,8,1e-07,1")]
        told = {("send", 8): {"min": 4e-8, "max": 6e-8}}
        self.assertEqual(validate.shares(several, told), {"send": [0, 2, 1]})
        told = {("send", 8): {"min": 6e-8, "max": 9e-8}, ("recv", 8): {"min": 1e-7, "max": 1e-7}}
        self.assertEqual(validate.shares(several, told), {"send": [2, 1, 0], "recv": [0, 1, 0]})

    def test_errors(self):
        first = launches.Launch("send,1,1e-06,1\nsend,2,2e-06,1\nrecv,1,7e-06,1")
        other = launches.Launch("send,1,1.25e-06,1")
        truth = {("send", 1): 1e-6, ("send", 2): 2e-6, ("recv", 1): 7e-6}
        result = validate.judge("send", truth, [first, other], {"model": lambda f, s: 1.5e-6})
        self.assertAlmostEqual(result["model"]["mean"], 0.375)  # 1/2 and 1/4
        self.assertAlmostEqual(result["model"]["max"], 0.5)
        self.assertEqual(result["model"]["at"], 1)
        self.assertAlmostEqual(result["noise"]["max"], 0.2)
        self.assertEqual(result["width"]["max"], float("inf"))  # of two launches nothing is known

    def test_half_width_of_the_middle(self):
        self.assertEqual(launches.half_width([1.0, 2.0, 3.0]), float("inf"))
        self.assertEqual(launches.half_width([5.0] * 8), 0)
        # Of 8 values 4 are kept; with the others moved to them: 3, 3, 3, 4, 5, 6, 6, 6, standard deviation
        # sqrt(14 / 7), error that / (1/2 sqrt 8) = 1; t of 3 degrees of freedom 3.182; the middle is 4.5.
        self.assertAlmostEqual(launches.half_width([-50.0, 2, 3, 4, 5, 6, 7, 80]), 3.182 / 4.5)

    def test_launches_in_the_state_of_the_used_ones(self):
        def launch(bounce):
            return launches.Launch(f"# before bounce_ns {bounce}\n# after bounce_ns {bounce}\n")
        near, also, far = launch(50), launch(60), launch(170)
        after = {"1": [near, far], "2": [far], "3": [also]}
        self.assertEqual(validate.in_used_state(after, ["1", "3"]), [near, also])

    def test_sizes_that_turn_out_to_be_measured_fall_away(self):
        class Arguments:
            sizes, seed = 3, 1
        candidates = [[5, 9, 2, 7, 8], [16, 8, 24, 40]]
        self.assertEqual(validate.new_sizes(Arguments, {9, 8}, candidates), [[5, 2, 7], [16, 24, 40]])

    def test_recv_is_kept_where_send_is(self):
        launch = launches.Launch("send,1,1e-06,1\nrecv,1,2e-06,1\nrecv,2,2e-06,1\nbcast,2,2e-06,1")
        self.assertEqual(set(validate.only([launch], [("send", 1)])[0].blocks), {("send", 1), ("recv", 1)})


if __name__ == "__main__":
    unittest.main()
