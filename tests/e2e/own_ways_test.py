"""Calls that come to MPI by ways of their own: from functions of MPI that the program defines itself,
and on communicators that come of no other one; and those that leave MPI by an exception. They take
the time that they take live."""

import json

import harness

RANKS = 3


class OwnWays(harness.TestCase):
    def check(self, name, said, calls):
        command = [harness.test_program(name)]
        self.assertEqual(self.ok(harness.plain(RANKS, command)).out, said)
        predicted = self.predict(RANKS, command)
        self.assertEqual(self.result.out, said)
        recorded = self.record(RANKS, command)
        self.assertEqual(self.result.out, said)
        seen = [call for _, call, _ in self.events(recorded)[0]]
        self.assertEqual({call: seen.count(call) for call in calls}, calls)
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", RANKS, "--machine", harness.T3D, "--compute", "annotated",
                       "-o", live, "--", *command)
        self.assert_same_ticks(predicted, live)
        self.assert_same_ticks(predicted, self.simulate(recorded))

    def test_functions_of_the_program(self):
        self.check("own_layer", "own_layer: 5 reductions, 5 sends\n",
                   {"MPI_Allreduce": 5, "MPI_Isend": 5, "MPI_Send": 0, "MPI_Finalize": 1})

    def test_they_are_profiled(self):
        command = [harness.test_program("own_layer")]
        out = self.directory / "own.json"
        self.foretrace("profile", "-n", RANKS, "-o", out, "--", *command)
        functions = {f["name"]: f["calls"] for f in json.loads(out.read_text())["functions"]}
        self.assertEqual(functions["MPI_Allreduce"], 5 * RANKS)

    def test_communicators_of_groups(self):
        self.check("session_comms", "session_comms: sum 3, from 2\n",
                   {"MPI_Allreduce": 1, "MPI_Sendrecv": 1})

    def test_error_handlers_that_throw(self):
        self.check("throwing", "throwing: 9 of 9 caught\n", {"MPI_Allreduce": 1, "MPI_Finalize": 1})


if __name__ == "__main__":
    harness.main()
