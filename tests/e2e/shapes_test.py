"""The shapes of the predictions of Howell's thesis (sections 5.4.1, 5.4.4 and 5.4.6)."""

import json

import harness

MS = 10**9  # ps


class Shapes(harness.TestCase):
    def phases(self, trace):
        """Seconds of computation by phase and rank."""
        result = []
        for events in self.events(trace):
            inside, totals = None, {}
            for kind, name, fields in events:
                # The computation before an event belongs to the phase that is open there.
                if inside is not None:
                    totals[inside] = totals.get(inside, 0) + fields["compute"]
                if kind == "phase_begin":
                    inside = name
                elif kind == "phase_end":
                    inside = None
            result.append(totals)
        return result

    def report(self, trace):
        return json.loads(self.foretrace("report", trace, "--json").out)

    def test_mandel(self):
        """160 x 160 on 8 SPARCstations: 71 to 72 ms of barrier (9000 p us), ranks 3 and 4 compute
        longest, and are done after 0.71 s (the thesis's diagram ends there)."""
        trace = self.predict(8, [harness.paper_program("mandel")], harness.SPARC, limit=60)
        for events in self.events(trace):
            first = next(f for kind, name, f in events if kind == "collective")
            self.assertEqual((first["cost"], first["enter"], first["leave"]), ("barrier", 0, 72 * MS))
        report = self.report(trace)
        compute = [rank["compute"] for rank in report["per_rank"]]
        self.assertEqual(sorted(range(8), key=lambda r: -compute[r])[:2], [3, 4])
        self.assertEqual(compute[3], compute[4])
        self.assertAlmostEqual(compute[3], 0.640208, 9)  # steps of 1 us, docs/programs.md
        self.assertAlmostEqual(0.072 + compute[3], 0.71, delta=0.005)

    def test_winnow(self):
        """The central ranks select most cells; rank 0 then sorts most of them, which is the
        longest computation of all."""
        trace = self.predict(8, [harness.paper_program("winnow")], harness.SPARC, limit=60)
        phases = self.phases(trace)
        select = [phase["select"] for phase in phases]
        self.assertGreater(min(select[2:6]), max(select[:2] + select[6:]))
        longest = max((time, rank, name) for rank, totals in enumerate(phases)
                      for name, time in totals.items())
        self.assertEqual(longest[1:], (0, "sort"))
        compute = [rank["compute"] for rank in self.report(trace)["per_rank"]]
        self.assertEqual(max(range(8), key=lambda r: compute[r]), 0)

    def test_thresh(self):
        """Collectives are predicted to complete together: no ragged edge."""
        trace = self.predict(8, [harness.paper_program("thresh")], harness.T3D, limit=60)
        leaves = [[f["leave"] for kind, name, f in events if f.get("cost") == "allreduce"]
                  for events in self.events(trace)]
        self.assertEqual(len(leaves[0]), 2)
        self.assertEqual(leaves, [leaves[0]] * 8)
        # All ranks look at equal shares of the image.
        steps = [sum(totals.get(name, 0) for name in ("maximum", "histogram", "mask"))
                 for totals in self.phases(trace)]
        self.assertEqual(steps, [steps[0]] * 8)


if __name__ == "__main__":
    harness.main()
