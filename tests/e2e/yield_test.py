"""Ranks that wait give their cores away where there are more ranks than cores."""

import os

import harness


class Yield(harness.TestCase):
    """Rank 0 waits 0.3 s for rank 1: it goes to sleep some thousand times, or spins."""

    def wait(self, subcommand="record", option=None, cores=None, env=None, ranks=2):
        tool = [harness.build / "bin" / "foretrace", subcommand, "-n", ranks, "-o",
                self.directory / "trace.ftr"]
        if subcommand == "predict":
            tool += ["--machine", harness.T3D, "--compute", "none"]
        if option:
            tool += ["--yield", option]
        bound = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
        # Open MPI would bind the ranks to cores of its own choice.
        env = {"OMPI_MCA_hwloc_base_binding_policy": "none", **(env or {})}
        result = self.ok(harness.run([*bound, *tool, "--", harness.test_program("misbehave"), "wait_long"], env=env))
        return result.out.strip()

    def cores(self, count):
        mine = sorted(os.sched_getaffinity(0))
        if len(mine) < count:
            self.skipTest(f"needs {count} cores")
        return mine[:count]

    def test_where_ranks_share_a_core(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, cores=self.cores(1)), self.by_itself())

    @staticmethod
    def by_itself():
        """Open MPI only yields, unless it is told otherwise."""
        return "slept often" if harness.mpi == "mpich" else "slept seldom"

    def test_not_where_each_has_its_own(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, cores=self.cores(2)), "slept seldom")

    def test_more_ranks_than_cores(self):
        self.assertEqual(self.wait(cores=self.cores(2), ranks=3), self.by_itself())

    def test_as_told(self):
        for subcommand in ("record", "predict"):
            self.assertEqual(self.wait(subcommand, "always", self.cores(2)), "slept often")
            self.assertEqual(self.wait(subcommand, "never", self.cores(1)), "slept seldom")

    def test_by_the_environment(self):
        self.assertEqual(self.wait(cores=self.cores(1), env={"FORETRACE_YIELD": "never"}), "slept seldom")
        # What the command line says counts more.
        self.assertEqual(self.wait(option="always", cores=self.cores(1), env={"FORETRACE_YIELD": "never"}),
                         "slept often")

    def test_wrong_use(self):
        result = self.foretrace("record", "-n", 2, "--yield", "sometimes", "--",
                                harness.test_program("misbehave"), status=2)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("--yield", result.err)
        result = self.ok(harness.foretrace("record", "-n", 2, "-o", self.directory / "t.ftr", "--",
                                           harness.test_program("misbehave"),
                                           env={"FORETRACE_YIELD": "sometimes"}), 1)
        self.assertIn("FORETRACE_YIELD='sometimes': expected auto, always or never", result.err)
        self.assertIn("no trace was written", result.err)

    def test_changes_no_prediction(self):
        program = [harness.paper_program("life"), "--rows", 40, "--cols", 40, "--iters", 3]
        for option in ("always", "never"):
            self.predict(5, program, name=f"{option}.ftr", options=("--yield", option))
        self.assert_same_ticks(self.directory / "always.ftr", self.directory / "never.ftr")

    def test_sleep_is_no_computation(self):
        """Three events in 0.3 s of waiting: the naps are in none of them."""
        trace = self.directory / "trace.ftr"
        self.assertEqual(self.wait(option="always"), "slept often")
        waiting = [f for kind, name, f in self.events(trace)[0] if name == "MPI_Recv"]
        self.assertEqual(len(waiting), 1)
        self.assertLess(sum(f["compute"] for kind, name, f in self.events(trace)[0]), 0.1e12)


if __name__ == "__main__":
    harness.main()
