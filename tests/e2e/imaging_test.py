"""The imaging programs: what explain says first, and what the program's own fix brings."""

import json

import harness


class Imaging(harness.TestCase):
    def explain(self, program, arguments, ranks):
        trace = self.record(ranks, [harness.paper_program(program), *arguments.split()], name="run.ftr")
        return json.loads(self.foretrace("explain", trace, "--machine", harness.T3D, "--compute",
                                         "annotated", "--json").out)

    def check(self, program, arguments, fix, ranks, kind, function):
        """The first finding is of that kind and place; the fix brings 80 % of what it promises."""
        before = self.explain(program, arguments, ranks)
        first = before["findings"][0]
        self.assertEqual((first["kind"], first["function"]), (kind, function), before["findings"][:3])
        self.assertRegex(first["place"], rf"^{program}\.cpp:\d+$")
        after = self.explain(program, f"{arguments} {fix}", ranks)
        self.assertGreater(first["gain"], 0.2 * before["time"])
        self.assertGreaterEqual(before["time"] - after["time"], 0.8 * first["gain"])

    def test_replies(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.check("registration", "--rows 400 --cols 200 --iters 3", "--reply late", ranks,
                           "wait", "MPI_Recv")


if __name__ == "__main__":
    harness.main()
