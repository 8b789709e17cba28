"""A machine that was measured in two states: predictions for the other one, and validate, which compares like with like.

Every call takes 10 us; in the machine's other state a posted send takes three times as long, a receive half as long.
"""

import json
import os

import attended_test
import harness

FUNCTION = """[[function]]
name = "{}"
[[function.regime]]
c = {}
other_state = {}
"""
HEAD = '[machine]\nname = "two states"\ntime_unit = "us"\n{}[compute]\nstep = 1e-6\n[loggps]\nP = 257\n'
FACTORS = {"send": 1, "isend1": 3, "irecv1": 0.5, "recv": 1, "isend2": 1, "irecv2": 1, "irecvoverlap": 1, "isendoverlap": 1}
COST = {"send": 10, "isend1": 10, "irecv1": 10}


def machine(facts, other):
    functions = (FUNCTION.format(name, COST.get(name, 0) * (factor if other else 1), 1 if other else factor)
                 for name, factor in FACTORS.items())
    return HEAD.format(facts) + "".join(functions)


# No cache line is as fast, so that real runs are always in the other state, where messages take longer.
TWO_STATES = machine("cache_line = 1e-12\nother_state_share = 0.3\n", False)


class States(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.program = self.compile(attended_test.PROGRAM)
        self.two = self.write("two.toml", TWO_STATES)

    def ways(self, model, size, *options):
        model = ("--machine", model, "--compute", "annotated", *options)
        recorded = self.record(2, [self.program, size])
        yield "predict", self.foretrace("predict", "-n", 2, *model, "-o", self.directory / "p.ftr", "--", self.program, size)
        yield "simulate", self.foretrace("simulate", *model, "-o", self.directory / "s.ftr", recorded)
        yield "live", self.foretrace("simulate", "-n", 2, *model, "-o", self.directory / "l.ftr", "--", self.program, size)

    def test_the_ways(self):
        # Ten rounds of 1 ms in turns, beside two posts: 10 and 10 us in one state, 5 and 30 in the other. Messages of
        # 256 bytes need no receiver in a call: each rank computes five times.
        by_hand = self.write("other.toml", machine("", True))
        for size, options, model, seconds in ((257, (), self.two, "0.0102"), (257, ("--other-state",), self.two, "0.01035"),
                                              (257, (), by_hand, "0.01035"), (256, (), self.two, "0.0052"),
                                              (256, ("--other-state",), self.two, "0.00535")):
            for way, result in self.ways(model, size, *options):
                with self.subTest(way=way, size=size, options=options):
                    self.assertRegex(result.err + result.out, rf"predicted time {seconds} s")

    def test_the_trace_says_so(self):
        for way, _ in self.ways(self.two, 257, "--other-state"):
            with self.subTest(way=way):
                report = self.foretrace("report", self.directory / f"{way[0]}.ftr").out
                self.assertIn("state=other", report)

    def test_wrong_use(self):
        one = self.write("one.toml", machine("", False))
        for options, status, says in ((("--machine", one), 1, "one state alone"), ((), 2, "give --machine")):
            result = self.foretrace("simulate", self.record(2, [self.program, 1]), *options, "--other-state", status=status)
            self.assertIn(says, result.err)
        loggps = self.foretrace("simulate", self.record(2, [self.program, 1]), "--machine", self.two, "--other-state",
                                "--network", "loggps", "--compute", "annotated")
        self.assertIn("--other-state changes the equations of functions", loggps.out + loggps.err)
        result = self.foretrace("predict", "-n", 2, "--machine", one, "--other-state", "--", self.program, 1, status=1)
        self.assertIn("one state alone", result.err)

    def test_validate_takes_the_state_of_the_runs(self):
        words = ("validate", "-n", 2, "--runs", 2, "--compute", "annotated")
        found = json.loads(self.foretrace(*words, "--json", "--machine", self.two, "--", self.program, 256).out)
        self.assertRegex(found["state"][0], r"^2 of 2 real runs found the machine in its other state: a cache line took "
                                            r"\S+ ns from core to core, 0\.001 ns when it was measured; what follows is")
        self.assertEqual([way["predicted"]["median"] for way in found["ways"]], [0.00535, 0.00535])
        self.assertEqual(found["runs"], 2)
        self.assertNotIn("other_state", found)
        # A model that does not know another state is compared as it is.
        one = self.write("one.toml", machine("cache_line = 1e-12\n", False))
        found = json.loads(self.foretrace(*words, "--json", "--machine", one, "--", self.program, 256).out)
        self.assertEqual([way["predicted"]["median"] for way in found["ways"]], [0.0052, 0.0052])
        self.assertIn("it is in another state", found["state"][0])

    def test_a_third_state(self):
        # No cache line takes a second either: a faster state is not the slower one that the model knows.
        third = self.write("third.toml", TWO_STATES.replace("1e-12", "1"))
        found = json.loads(self.foretrace("validate", "-n", 2, "--runs", 1, "--compute", "annotated", "--json", "--machine",
                                          third, "--", self.program, 256).out)
        self.assertIn("1 of 1 real runs saw the state of the machine change on the way, or a third one", found["state"][0])
        self.assertEqual([way["predicted"]["median"] for way in found["ways"]], [0.0052, 0.0052])
        self.assertGreater(found["measured"]["median"], 0)

    def test_more_ranks_than_cores(self):
        # A cache line would wait for a core, and says nothing.
        ranks = (os.cpu_count() or 1) + 2
        program = self.compile("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n", "many")
        found = self.foretrace("validate", "-n", ranks, "--runs", 1, "--json", "--machine", self.two, "--", program).out
        self.assertNotIn("state of the machine", found)
        self.assertNotIn("its other state", found)

    def test_one_rank(self):
        # There is nobody to send a cache line to, so nobody says in which state it ran.
        program = self.compile("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n", "alone")
        found = self.foretrace("validate", "-n", 1, "--runs", 1, "--json", "--machine", self.two, "--", program).out
        self.assertNotIn("state of the machine", found)
        self.assertNotIn("its other state", found)


if __name__ == "__main__":
    harness.main()
