"""Calls that a program makes in functions that MPI calls: each is an event of its own, before that
of the call around it, in all three ways.

tests/e2e/programs/callbacks.c makes them; what it prints says that they were made.
"""

import re

import harness

RANKS = 3
# What leads there, how often; and for those that lead there once, the call around it.
WAYS = {"d": (1, "MPI_Comm_free"), "e": (1, "MPI_Send"), "g": (1, "MPI_Wait"), "s": (1, "MPI_Finalize"),
        "w": (1, "MPI_Win_free"), "c": (3, None), "i": (3, None), "cdegiws": (9, None)}


class Callbacks(harness.TestCase):
    def three_ways(self, letters):
        command = [harness.test_program("callbacks"), letters]
        expected = f"{WAYS[letters][0]} calls\n"
        predicted = self.predict(RANKS, command)
        self.assertEqual(self.result.out, expected)
        recorded = self.record(RANKS, command)
        self.assertEqual(self.result.out, expected)
        live = self.directory / "live.ftr"
        ran = self.foretrace("simulate", "-n", RANKS, "--machine", harness.T3D, "--compute", "annotated", "-o", live, "--", *command)
        self.assertIn(expected, ran.out)
        return predicted, self.simulate(recorded), live

    def events(self, trace):
        return [re.sub(r" site=\d+", "", line) for line in self.ticks(trace).splitlines()
                if not line.startswith(("site", "options"))]

    def test_three_ways_agree(self):
        for letters in WAYS:
            with self.subTest(letters=letters):
                predicted, simulated, live = map(self.events, self.three_ways(letters))
                self.assertEqual(predicted, simulated)
                if not set("ci") & set(letters):
                    self.assertEqual(predicted, live)
                    continue
                # Live the communicator is made before its attributes are copied: the same events by other moments.
                moments = re.compile(r" (enter|leave|wait|compute|steps)=\d+")
                self.assertEqual(sorted(moments.sub("", event) for event in predicted),
                                 sorted(moments.sub("", event) for event in live))

    def test_stand_before_the_call_around_them(self):
        """And what the rank had computed until that one stands with the first of them."""
        for letters, (_, around) in WAYS.items():
            if around is None:
                continue
            with self.subTest(letters=letters):
                events = self.events(self.predict(RANKS, [harness.test_program("callbacks"), letters]))
                names = [found.group(1) if (found := re.search(r"(MPI_\w+)", line)) else "" for line in events]
                talk = names.index("MPI_Sendrecv")
                last = names.index(around, talk)
                self.assertEqual(names[talk:talk + 2], ["MPI_Sendrecv", "MPI_Barrier"])
                self.assertLess(set(names[talk + 2:last]), {"MPI_Status_set_elements", "MPI_Status_set_cancelled", "other"})
                # The first function asks for a size before it talks.
                first = talk - 1 if names[talk - 1] == "MPI_Comm_size" else talk
                self.assertIn(" steps=10 ", events[first] + " ")
                self.assertIn(" steps=0 ", events[last] + " ")

    def test_without_them_there_is_nothing_of_the_kind(self):
        names = self.ticks(self.predict(RANKS, [harness.test_program("callbacks"), "x"]))
        self.assertEqual(self.result.out, "0 calls\n")
        self.assertNotIn("MPI_Barrier", names)


if __name__ == "__main__":
    harness.main()
