"""The less common forms of MPI (programs/odd_forms.cpp checks its data itself): the same output
with and without us, and the same times from predict as from record and simulate, on a machine
without rendezvous and on one with; some also as in a live run."""

import re
import unittest

import harness

CASES = re.findall(r'^    \{"(\w+)",',
                   (harness.SOURCE / "tests/e2e/programs/odd_forms.cpp").read_text(), re.M)

LIVE = ("posted_collectives", "posted_together", "persistent_collectives", "duplicate_posted",
        "send_and_receive_posted", "neighbours", "probe_order")


class OddForms(harness.TestCase):
    def check(self, case):
        command = [harness.test_program("odd_forms"), case]
        # Making communicators is slow where ranks spin for each other on fewer cores.
        ranks = 2 if case == "many_comms" else 3
        said = f"odd_forms: {case}: all checks passed\n"
        self.assertEqual(self.ok(harness.plain(ranks, command, limit=30)).out, said)
        recorded = self.record(ranks, command, limit=15)
        self.assertEqual(self.result.out, said)
        for threshold in (None, 4096):
            with self.subTest(threshold=threshold):
                model = self.write("m.toml", harness.with_threshold(
                    harness.T3D.read_text(), threshold))
                predicted = self.predict(ranks, command, model, limit=10)
                self.assertEqual(self.result.out, said)
                self.assert_same_ticks(predicted, self.simulate(recorded, model))
                if case in LIVE:
                    self.assert_same_ticks(predicted, self.live(ranks, command, model))

    def live(self, ranks, command, model):
        trace = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", ranks, "--machine", model, "--compute", "annotated", "-o",
                       trace, "--", *command, limit=10)
        return trace


for each in CASES:
    setattr(OddForms, f"test_{each}", lambda self, case=each: self.check(case))

if __name__ == "__main__":
    harness.main()
