#!/usr/bin/env python3
"""Laws of real programs' calls: runs on few ranks, extrapolated, beside runs on more."""

import json

import harness


class Laws(harness.TestCase):
    FEW = (2, 3, 4, 8, 16)
    MANY = 64

    def run_at(self, ranks, words):
        trace = self.directory / f"run-{ranks}.ftr"
        self.foretrace("simulate", "-n", ranks, "--machine", "cray-t3d", "--compute", "annotated", "-o", trace, "--", *words)
        return trace

    def test_calls_of_a_gather_are_told_though_their_sizes_change(self):
        words = [harness.paper_program("life"), "--rows", 192, "--cols", 192]
        traces = [self.run_at(ranks, words) for ranks in self.FEW]
        report = json.loads(self.foretrace("report", self.run_at(self.MANY, words), "--json").out)
        truth = {site["function"]: site["time"] / self.MANY for site in report["sites"] if site["time"] > 0}
        fit = ("fit", *traces, "--at", f"p={self.MANY}")
        laws = json.loads(self.foretrace(*fit, "--machine", "cray-t3d", "--json").out)
        sites = {site["function"]: site for site in laws["sites"]}
        self.assertEqual(set(sites), set(truth))
        # 576 bytes of each rank: its own equation, at a size and a number of ranks that no run had.
        sheet = json.loads(self.foretrace("calc", "cray-t3d", "gather", "--ranks", self.MANY, "--bytes", 576, "--json").out)
        gather = sites["MPI_Gatherv"]
        self.assertEqual(gather["on_sheet"], "gatherv")
        self.assertAlmostEqual(gather["own"]["value"] / sheet["avg"], 1, 3)
        for name in ("MPI_Gatherv", "MPI_Bcast", "MPI_Reduce"):
            self.assertAlmostEqual(sites[name]["time"] / truth[name], 1, 2, name)
        text = self.foretrace(*fit, "--machine", "cray-t3d").out
        self.assertIn("5 runs with 2 to 16 ranks; data sheet: Cray T3D", text)
        self.assertRegex(text, r"MPI_Gatherv +\S+ ")
        self.assertIn("laws alone", self.foretrace(*fit).out)
        self.refuses(traces)

    def refuses(self, traces):
        for words, what in ((["--at", "p=64", "--machine", "sparc-ethernet"], "the runs are of the machine 'Cray T3D'"),
                            (["--at", "n=64"], "--at p=1024"), (["--at", "p=64.5"], "whole number"),
                            (["--at", "p=64", "--metric", "time"], "not for traces")):
            result = harness.foretrace("fit", *traces, *words)
            self.assertEqual(result.status, 2, result)
            self.assertIn(what, result.err)
        result = harness.foretrace("fit", *traces[:3], "--at", "p=64")
        self.assertEqual(result.status, 1)
        self.assertIn("3 numbers of ranks", result.err)
        recorded = self.record(4, [harness.paper_program("life")], name="recorded.ftr")
        result = harness.foretrace("fit", *traces[:2], recorded, *traces[3:], "--at", "p=64")
        self.assertEqual(result.status, 1)
        self.assertIn(f"foretrace: {recorded}: a recording has no times of its calls", result.err)


if __name__ == "__main__":
    harness.main()
