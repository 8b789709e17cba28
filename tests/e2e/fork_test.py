"""Programs that make children between their MPI calls (programs/forked.c): the children end as without Foretrace,
and nothing of what they do gets into what is captured of their parents."""

import json

import harness

TIMES = ("compute", "enter", "leave", "wait")


class Fork(harness.TestCase):
    ranks = 2

    def command(self, *way):
        return [harness.test_program("forked"), *way]

    def setUp(self):
        super().setUp()
        self.assertEqual(self.ok(harness.plain(self.ranks, self.command())).out, "done\n")

    def capture(self, mode, *way, output):
        ended = self.foretrace(*mode, "-n", self.ranks, "-o", output, "--", *self.command(*way))
        self.assertEqual(ended.out, "done\n")

    def live(self, *rest):
        return self.foretrace("simulate", "-n", self.ranks, "--mpi", harness.mpi, "--machine", harness.T3D, "--compute", "none", *rest)

    def calls(self, trace):
        report = json.loads(self.foretrace("report", trace, "--json").out)
        self.assertTrue(report["complete"])
        self.assertEqual(report["damage"], [])
        return [[(kind, name, {field: value for field, value in fields.items() if field not in TIMES})
                 for kind, name, fields in events] for events in self.events(trace)]

    def test_record(self):
        for clock in ("cpu", "wall"):
            with self.subTest(clock=clock):
                alone, forked = self.directory / "alone.ftr", self.directory / "forked.ftr"
                self.capture(["record", "--clock", clock], "alone", output=alone)
                self.capture(["record", "--clock", clock], output=forked)
                self.assertEqual(self.calls(forked), self.calls(alone))

    def test_predict(self):
        alone, forked = self.directory / "alone.ftr", self.directory / "forked.ftr"
        mode = ["predict", "--machine", harness.T3D, "--compute", "none"]
        self.capture(mode, "alone", output=alone)
        self.capture(mode, output=forked)
        self.assert_same_ticks(alone, forked)

    def test_live(self):
        alone, forked = self.directory / "alone.ftr", self.directory / "forked.ftr"
        for way, trace in (("alone", alone), ("", forked)):
            ended = self.live("-o", trace, "--", *self.command(*way.split()))
            self.assertIn("done\npredicted time ", ended.out)
        self.assert_same_ticks(alone, forked)

    def test_live_children_that_need_other_ranks(self):
        for way, status, call in (("sends", 1, "MPI_Send"), ("waits", 1, "MPI_Irecv"), ("meets", 1, "MPI_Barrier"),
                                  ("finalizes", 16, None)):
            with self.subTest(way=way):
                ended = self.live("--", *self.command(way))
                self.assertIn(f"the child that {way} ended with status {status}\ndone\npredicted time ", ended.out)
                lines = [line for line in ended.err.splitlines() if "has forked" in line]
                self.assertEqual(len(lines), self.ranks if call else 0, ended.err)
                if call:
                    self.assertIn(f"{call} is called by a process that rank ", lines[0])

    def test_profile(self):
        counts = []
        for way in (["alone"], []):
            profile = self.directory / "profile.json"
            self.capture(["profile"], *way, output=profile)
            counts.append({function["name"]: function["calls"]
                           for function in json.loads(profile.read_text())["functions"]})
        self.assertEqual(counts[0], counts[1])
        self.assertEqual(counts[0]["MPI_Sendrecv"], self.ranks * 6)


if __name__ == "__main__":
    harness.main()
