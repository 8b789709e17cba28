"""The imaging programs: what explain says first, and what the program's own fix brings."""

import json

import harness


class Imaging(harness.TestCase):
    def explain(self, program, arguments, ranks):
        trace = self.record(ranks, [harness.paper_program(program), *arguments.split()], name="run.ftr")
        return json.loads(self.foretrace("explain", trace, "--machine", harness.T3D, "--compute",
                                         "annotated", "--json").out)

    def check(self, program, arguments, fix, ranks, kind, function, least):
        """The first finding is of that kind and place, and promises at least this share of the
        run; the fix brings 80 % of what it promises."""
        before = self.explain(program, arguments, ranks)
        first = before["findings"][0]
        self.assertEqual((first["kind"], first["function"]), (kind, function), before["findings"][:3])
        after = self.explain(program, f"{arguments} {fix}", ranks)
        self.assertGreater(first["gain"], least * before["time"])
        self.assertGreaterEqual(before["time"] - after["time"], 0.8 * first["gain"])

    def test_replies(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.check("registration", "--rows 400 --cols 200 --iters 3", "--reply late", ranks,
                           "wait", "MPI_Recv", 0.2)

    def test_places(self):
        trace = self.record(2, [harness.paper_program("registration"), "--rows", "40"])
        self.assertIn("MPI_Recv at registration.cpp:", self.foretrace("explain", trace, "--machine", harness.T3D,
                                                                      "--compute", "annotated").out)

    def test_wider_rows(self):
        self.check("registration", "--rows 400 --cols 200 --iters 3 --reply late --imbalance 200",
                   "--share weighted", 4, "imbalance", "MPI_Recv", 0.2)

    def test_crowded_spheres(self):
        self.check("compositing", "--imbalance 100", "--split lines", 4, "imbalance", "gather", 0.1)


if __name__ == "__main__":
    harness.main()
