"""The less common forms of MPI (programs/odd_forms.cpp checks its data itself): the same output
with and without us, and the same times from predict as from record and simulate, on a machine
without rendezvous and on one with; some also as in a live run."""

import re
import unittest

import harness

CASES = re.findall(r'^    \{"(\w+)",',
                   (harness.SOURCE / "tests/e2e/programs/odd_forms.cpp").read_text(), re.M)

LIVE = ("posted_collectives", "posted_together", "persistent_collectives", "duplicate_posted",
        "send_and_receive_posted", "neighbours", "window", "file", "between", "nothing", "creations")


class OddForms(harness.TestCase):
    def check(self, case):
        command = [harness.test_program("odd_forms"), case]
        # Making communicators is slow where ranks spin for each other on fewer cores.
        ranks = 2 if case == "many_comms" else 3
        said = f"odd_forms: {case}: all checks passed\n"
        self.assertEqual(self.ok(harness.plain(ranks, command, limit=100, cwd=self.directory)).out, said)
        recorded = self.record(ranks, command, limit=100, cwd=self.directory)
        self.assertEqual(self.result.out, said)
        self.assert_survives_text(recorded)
        for threshold in (None, 4096):
            with self.subTest(threshold=threshold):
                model = self.write("m.toml", harness.with_threshold(
                    harness.T3D.read_text(), threshold))
                predicted = self.predict(ranks, command, model, limit=100, cwd=self.directory)
                self.assertEqual(self.result.out, said)
                self.assert_same_ticks(predicted, self.simulate(recorded, model))
                if case in LIVE:
                    self.assert_same_ticks(predicted, self.live(ranks, command, model))

    def live(self, ranks, command, model):
        trace = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", ranks, "--machine", model, "--compute", "annotated", "-o",
                       trace, "--", *command, limit=100)
        return trace


    def test_what_moves(self):
        """One-sided and file calls have their bytes and target, and take the time of their own
        equation; by record and simulate as by predict."""
        model = self.write("m.toml", harness.T3D.read_text() + """
[[function]]
name = "put"
[[function.regime]]
bytes = [0]
c = 7
k = 2
g = "d"
[[function]]
name = "file_write_at"
[[function.regime]]
bytes = [0]
c = 11
""")
        for case, name, moves in (("window", "MPI_Put", ["1/200", "2/200", "0/200"]),
                                  ("file", "MPI_File_write_at", ["-1/100"] * 3)):
            command = [harness.test_program("odd_forms"), case]
            predicted = self.predict(3, command, model, cwd=self.directory)
            self.assertNotIn("no virtual time yet: ", self.result.err)
            calls = [fields for events in self.events(predicted) for _, call, fields in events
                     if call == name]
            self.assertEqual([call["moves"] for call in calls], moves)
            ends = [call["leave"] for call in calls]
            if case == "window":  # the fence after it, the first that has to wait, waits for the put
                ends = [next(fields["leave"] for kind, call, fields in events
                             if (kind, call) == ("call", "MPI_Win_fence"))
                        for events in self.events(predicted)]
            # 200 bytes are 25 elements of the model.
            took = 57_000_000 if case == "window" else 11_000_000
            self.assertEqual([end - call["enter"] for end, call in zip(ends, calls, strict=True)],
                             [took] * 3)
            recorded = self.record(3, command, cwd=self.directory)
            self.assert_same_ticks(predicted, self.simulate(recorded, model))

    def test_what_windows_and_files_meet_in(self):
        """The collective calls of windows and files are barriers of their members, which take
        the time of their own equation, or of the one that is measured in their place; so do
        the calls that post a collective or make a communicator. The same by all three ways."""
        names = {"win_fence": (3, 0), "file_open": (5, 0), "file_close": (7, 0),
                 "file_read_at_all": (11, 2), "ibarrier1": (13, 0), "comm_create_group": (17, 0),
                 "intercomm_create": (19, 0)}
        model = self.write("m.toml", harness.T3D.read_text() + "".join(f"""
[[function]]
name = "{name}"
[[function.regime]]
bytes = [0]
c = {c}
k = {k}
g = "d"
""" for name, (c, k) in names.items()))
        # 100 bytes are 12.5 elements of the model.
        expected = {"window": {"MPI_Win_fence": 3}, "file": {"MPI_File_open": 5, "MPI_File_close": 7,
                                                             "MPI_File_read_at_all": 36},
                    "posted_collectives": {"MPI_Ibarrier": 13},
                    "creations": {"MPI_Comm_create_group": 17, "MPI_Intercomm_create": 19}}
        for case, calls in expected.items():
            command = [harness.test_program("odd_forms"), case]
            predicted = self.predict(3, command, model, cwd=self.directory)
            for events in self.events(predicted):
                for kind, call, fields in events:
                    if call in calls and kind != "call":
                        with self.subTest(call=call):
                            self.assertEqual(fields["leave"] - fields["enter"] - fields.get("wait", 0),
                                             calls[call] * 1_000_000)
            recorded = self.record(3, command, cwd=self.directory)
            self.assert_same_ticks(predicted, self.simulate(recorded, model))
            if case in LIVE:
                self.assert_same_ticks(predicted, self.live(3, command, model))

    def test_what_moves_nothing_takes_no_time(self):
        """A rank beside the root of a collective between two groups, and accesses to nobody and of
        no bytes; though the model knows what their functions take. The same by all three ways."""
        functions = ("put", "get", "accumulate", "rput")
        model = self.write("m.toml", harness.T3D.read_text() + "".join(
            f'\n[[function]]\nname = "{name}"\n[[function.regime]]\nc = 1000\n' for name in functions))
        command = [harness.test_program("odd_forms"), "nothing"]
        predicted = self.predict(3, command, model)
        for rank, events in enumerate(self.events(predicted)):
            free = [f"MPI_{name.capitalize()}" for name in functions]
            if rank == 1:
                free += ["MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter"]
            taken = {(name, fields["leave"] - fields["enter"]) for _, name, fields in events if name in free}
            self.assertEqual(taken, {(name, 0) for name in free}, rank)
        self.assert_same_ticks(predicted, self.simulate(self.record(3, command), model))
        self.assert_same_ticks(predicted, self.live(3, command, model))


for each in CASES:
    setattr(OddForms, f"test_{each}", lambda self, case=each: self.check(case))

if __name__ == "__main__":
    harness.main()
