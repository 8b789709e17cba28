"""What computation takes: counted, from a table, replayed, scaled by kernels. One vocabulary, and the same
times from predict, from record and simulate, and live."""

import pathlib
import re

import harness

RANKS = 3
MACHINE = """
[machine]
name = "counting"
[compute]
step = "1us"
block = "1.3ns"
[[compute.kernel]]
name = "float"
time = "3ns"
[[compute.kernel]]
name = "stream"
time = "8ns"
[[function]]
name = "send"
[[function.regime]]
c = 3e-5
[[function]]
name = "recv"
[[function.regime]]
c = 6e-5
[[function]]
name = "allreduce"
[[function.regime]]
c = 1e-4
"""
TABLE = """
[[region]]
phase = "exchange"
visit = ["2us", "7us", 0, "1us"]
[[region]]
phase = "solve"
visit = ["300us", "40us"]
scale = 0.5
"""


class Compute(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = self.write("m.toml", MACHINE)
        self.program = self.compile("regions", "-fsanitize-coverage=trace-pc",
                                    harness.build / "lib/foretrace/libforetrace-blocks.a")

    def compile(self, name, *options, compiler=None, kind="regions"):
        program = self.directory / name
        source = harness.SOURCE / "tests/e2e/programs" / f"{kind}.c"
        words = [f"mpicc.{harness.mpi}", "-O1", f"-I{harness.SOURCE / 'include'}", source, *options, "-o", program]
        env = {"OMPI_CC": compiler, "MPICH_CC": compiler} if compiler else None
        self.ok(harness.run(words, env=env))
        return program

    def live(self, compute, name="live.ftr", options=(), status=0, program=None):
        trace = self.directory / name
        self.result = self.foretrace("simulate", "-n", RANKS, "--machine", self.machine, "--compute", compute,
                                     *options, "-o", trace, "--", program or self.program, status=status)
        return trace

    def predicted(self, compute, name="predict.ftr", options=()):
        return self.predict(RANKS, [self.program], machine=self.machine, compute=compute, name=name,
                            options=options)

    def three_ways(self, compute, record_options=(), replay=None):
        """The traces of predict, of record and simulate, and of a live run; all alike."""
        predicted = self.predicted(compute)
        record = self.directory / "record.ftr"
        self.foretrace("record", "-n", RANKS, *record_options, "-o", record, "--", self.program)
        simulated = self.simulate(record, machine=self.machine, compute=replay or compute)
        live = self.live(compute)
        self.assert_same_ticks(predicted, simulated)
        self.assert_same_ticks(predicted, live)
        return predicted

    def compute_before(self, trace):
        """For each rank (name, picoseconds) of the computation before each event."""
        return [[(name, fields["compute"]) for _, name, fields in rank] for rank in self.events(trace)]

    def computed(self, trace):
        """Picoseconds that each rank computes."""
        return [sum(ps for _, ps in rank) for rank in self.compute_before(trace)]

    # --- counted ---------------------------------------------------------------

    def test_counted_blocks_are_the_same_in_all_ways(self):
        trace = self.three_ways("counted", ["--count", "blocks"])
        times = self.compute_before(trace)
        for rank in times:
            for name, ps in rank:
                self.assertEqual(ps % 1300, 0, f"{name}: whole blocks of 1.3 ns")
        solve = [dict((name, ps) for name, ps in rank)["MPI_Allreduce"] for rank in times]
        # Each rank relaxes once more than the one before, the same blocks each time.
        self.assertGreater(solve[0], 0)
        self.assertGreater(solve[1], solve[0] * 1.2)
        self.assertGreater(solve[2], solve[1] * 1.15)
        again = self.predicted("counted", "again.ftr")
        self.assert_same_ticks(trace, again)

    def test_counted_blocks_of_clang(self):
        self.program = self.compile("clang", "-fsanitize-coverage=trace-pc",
                                    harness.build / "lib/foretrace/libforetrace-blocks.a", compiler="clang-14")
        self.assert_same_ticks(self.predicted("counted"), self.live("counted"))
        solve = [ps for name, ps in self.compute_before(self.directory / "live.ftr")[0] if name == "MPI_Allreduce"]
        self.assertGreater(min(solve), 0)

    def test_trace_says_what_its_steps_are(self):
        record = self.directory / "r.ftr"
        self.foretrace("record", "-n", RANKS, "--count", "blocks", "-o", record, "--", self.program)
        self.assertIn("counts=blocks", self.foretrace("report", record).out)
        refused = self.foretrace("simulate", record, "--machine", self.machine, "--compute", "annotated", status=1)
        self.assertIn("holds counts of blocks instead of the program's steps", refused.err)
        refused = self.foretrace("simulate", record, "--machine", self.machine, "--compute",
                                 "counted:instructions", status=1)
        self.assertIn("holds no counts of instructions; record the program with --count instructions", refused.err)
        plain = self.record(RANKS, [self.program])
        refused = self.foretrace("simulate", plain, "--machine", self.machine, "--compute", "counted", status=1)
        self.assertIn("holds no counts of blocks; record the program with --count blocks", refused.err)

    def test_program_that_does_not_count_is_refused(self):
        plain = self.compile("plain")
        for command in (["predict", "--machine", self.machine, "--compute", "counted"],
                        ["record", "--count", "blocks"]):
            refused = self.foretrace(*command, "-n", RANKS, "-o", self.directory / "no.ftr", "--", plain, status=1)
            self.assertIn("compile it with -fsanitize-coverage=trace-pc", refused.err)
            self.assertEqual(refused.err.count("-fsanitize-coverage"), 1, "once is enough")
            self.assertIn("sum ", refused.out, "the program runs on")
            self.assertNotIn("no rank came to MPI_Init", refused.err)
        self.live("counted", status=3, program=plain)
        self.assertIn("compile it with -fsanitize-coverage=trace-pc", self.result.err)
        self.assertEqual(len(self.result.err.splitlines()), 1, self.result.err)

    def test_machine_that_has_no_cost_is_refused(self):
        command = ["predict", "-n", RANKS, "--machine", harness.T3D, "--compute", "counted", "--", self.program]
        self.assertIn('add block = "1.2ns" to its [compute]', self.foretrace(*command, status=1).err)
        self.live("counted:instructions", status=1)
        # Where the kernel does not count, that is said first.
        self.assertRegex(self.result.err, "does not say what an instruction takes|does not count instructions")

    def test_instructions_or_a_clear_no(self):
        self.machine = self.write("i.toml", MACHINE.replace("block =", 'instruction = "0.25ns"\nblock ='))
        result = harness.foretrace("predict", "-n", RANKS, "--machine", self.machine, "--compute",
                                   "counted:instructions", "-o", self.directory / "i.ftr", "--", self.program)
        if result.status == 1:
            self.assertIn("this machine does not count instructions for us", result.err)
            self.assertNotIn("sum ", result.out, "nothing was started")
            for command in (["record", "-n", RANKS, "--count", "instructions", "--", self.program],
                            ["simulate", "-n", RANKS, "--machine", self.machine, "--compute",
                             "counted:instructions", "--", self.program]):
                self.assertIn("does not count instructions", self.foretrace(*command, status=1).err)
        else:
            self.ok(result)
            self.assertGreater(self.compute_before(self.directory / "i.ftr")[0][-1][1], 0)

    # --- tables ------------------------------------------------------------------

    def test_table_is_the_same_in_all_ways(self):
        table = self.write("table.toml", TABLE)
        trace = self.three_ways(f"table:{table}")
        for rank in self.compute_before(trace):
            self.assertEqual([ps for name, ps in rank if name == "MPI_Irecv"], [2_000_000] * 4)
            self.assertEqual([ps for name, ps in rank if name == "MPI_Isend"], [7_000_000] * 4)
            self.assertEqual([ps for name, ps in rank if name == "MPI_Waitall"], [0] * 4)
            self.assertEqual([ps for name, ps in rank if name == "MPI_Sendrecv"], [1_000_000] * 4)
            self.assertEqual([ps for name, ps in rank if name == "MPI_Allreduce"], [150_000_000] * 4)
            self.assertEqual([ps for name, ps in rank if name == "solve"], [0, 20_000_000] * 4)

    def test_table_of_steps(self):
        table = self.write("steps.toml", '[elsewhere]\ntime = "none"\n[[region]]\nphase = "solve"\nstep = "3us"\n')
        trace = self.three_ways(f"table:{table}")
        for number, rank in enumerate(self.compute_before(trace)):
            self.assertEqual([ps for name, ps in rank if name == "MPI_Allreduce"], [3_000_000 * (2 + number)] * 4)
            self.assertEqual([ps for name, ps in rank if name == "MPI_Isend"], [0] * 4)

    def test_table_written_from_a_run(self):
        record = self.record(RANKS, [self.program])
        for per in ("visit", "step"):
            table = self.directory / f"{per}.toml"
            self.foretrace("regions", record, "--per", per, "-o", table)
            text = table.read_text()
            self.assertIn('phase = "solve"', text)
            # Outside of phases the recorded time shall stand.
            table.write_text(text.replace('[elsewhere]\ntime = "none"', '[elsewhere]\ntime = "measured"'))
            simulated = self.simulate(record, machine=self.machine, compute=f"table:{table}")
            ours = sum(ps for rank in self.compute_before(simulated) for _, ps in rank)
            theirs = sum(ps for rank in self.compute_before(record) for _, ps in rank)
            # Means keep the sum, but for rounding.
            self.assertAlmostEqual(ours / theirs, 1, delta=1e-6, msg=per)

    def test_wrong_tables_are_told(self):
        bad = self.write("bad.toml", '[[region]]\nphase = "a"\n')
        for command in (["predict", "-n", RANKS], ["simulate", "-n", RANKS]):
            refused = self.foretrace(*command, "--machine", self.machine, "--compute", f"table:{bad}", "--",
                                     self.program, status=1)
            self.assertIn(f"{bad}:1: [[region]]: needs one of 'visit', 'step' and 'time'", refused.err)
        refused = self.foretrace("predict", "-n", 2, "--machine", self.machine, "--compute", "table:no.toml", "--",
                                 self.program, status=1)
        self.assertIn("no.toml: cannot read the compute table", refused.err)

    # --- scaled by kernels --------------------------------------------------------

    def test_recorded_times_are_scaled_by_kernels(self):
        here = self.write("here.toml", '[machine]\nname = "here"\n[[compute.kernel]]\nname = "float"\ntime = "1ns"\n'
                          '[[compute.kernel]]\nname = "stream"\ntime = "8ns"\n')
        record = self.record(RANKS, [self.program])
        scaled = self.directory / "scaled.ftr"
        self.foretrace("simulate", record, "--machine", self.machine, "--scale-from", here, "-o", scaled)
        # float takes three times as long there, stream the same: two on the mean.
        self.assert_same_ticks(scaled, self.simulate(record, machine=self.machine, compute="recorded:2"))
        table = self.write("mix.toml", '[elsewhere]\ntime = "measured"\nkernels = { float = 1.0 }\n')
        self.foretrace("simulate", record, "--machine", self.machine, "--compute", f"table:{table}", "--scale-from",
                       here, "-o", scaled)
        self.assert_same_ticks(scaled, self.simulate(record, machine=self.machine, compute="recorded:3"))
        self.predicted("measured", options=["--scale-from", here])
        self.live("measured", options=["--scale-from", here])

    # Three ranks compute on one node here. There one alone takes 2 ns, two take 20, three take 60 each.
    def by_ranks(self):
        kernel = '[machine]\nname = "%s"\n[[compute.kernel]]\nname = "stream"\nranks = %s\ntime = %s\n'
        here = self.write("few.toml", kernel % ("few", "[1, 2, 4]", '["1ns", "1ns", "3ns"]'))
        there = MACHINE.replace('name = "stream"\ntime = "8ns"',
                                'name = "stream"\nranks = [1, 2, 3]\ntime = ["2ns", "20ns", "60ns"]')
        return here, self.write("there.toml", there.replace('[[compute.kernel]]\nname = "float"\ntime = "3ns"\n', ""))

    def test_kernels_by_the_ranks_that_share_a_node(self):
        here, there = self.by_ranks()
        record = self.record(RANKS, [self.program])
        scaled = self.directory / "scaled.ftr"
        command = ["simulate", record, "--machine", there, "--scale-from", here, "-o", scaled]
        # 3 ranks here: 2 ns, between two and four.
        for placement, factor in (([], 30), (["--ranks-per-node", 1], 1)):
            self.foretrace(*command, *placement)
            self.assert_same_ticks(scaled, self.simulate(record, machine=there, compute=f"recorded:{factor}"))
        # Ranks 0 and 1 share a node, rank 2 has one of its own.
        self.foretrace(*command, "--ranks-per-node", 2)
        computed = [self.computed(self.simulate(record, machine=there, compute=f"recorded:{factor}"))
                    for factor in (10, 1)]
        self.assertEqual(self.computed(scaled), [computed[0][0], computed[0][1], computed[1][2]])
        self.assertGreater(computed[1][2], 0)

    # In programs that run, too: here as many compute at once as there are cores.
    def test_running_programs_by_the_ranks_that_share_a_node(self):
        here, self.machine = self.by_ranks()
        for name, command in (("predict", self.predicted), ("live", self.live)):
            computed = {}
            for placement in (1, 3):
                trace = command("measured", f"{name}{placement}.ftr",
                                options=["--scale-from", here, "--ranks-per-node", str(placement)])
                computed[placement] = sum(self.computed(trace))
            # Thirty times as much; computation itself takes another time in each run.
            self.assertGreater(computed[3], 8 * computed[1], name)
            self.assertLess(computed[3], 100 * computed[1], name)

    def test_more_ranks_than_were_measured(self):
        here, there = self.by_ranks()
        said = ("the kernels of 'few' are known for up to 2 ranks that compute on a node; for 3 they count as for 2")
        few = self.write("fewer.toml", pathlib.Path(here).read_text().replace("[1, 2, 4]", "[1, 2]")
                         .replace(', "3ns"', ""))
        record = self.record(RANKS, [self.program])
        out = self.foretrace("simulate", record, "--machine", there, "--scale-from", few)
        self.assertIn(said, out.err)
        self.assertNotIn("are known for", self.foretrace("simulate", record, "--machine", there, "--scale-from",
                                                         here).err)
        out = self.foretrace("simulate", record, "--machine", there, "--scale-from", here, "--ranks-per-node", 3)
        self.assertNotIn("are known for", out.err)

    def test_scales_that_make_no_sense(self):
        record = self.record(RANKS, [self.program])
        command = ["simulate", record, "--machine", self.machine, "--scale-from"]
        refused = self.foretrace(*command, self.machine, "--compute", "none", status=2)
        self.assertIn("--scale-from scales what was measured; --compute none measures nothing", refused.err)
        refused = self.foretrace(*command, harness.T3D, status=1)
        self.assertIn("have no kernel in common", refused.err)
        table = self.write("mix.toml", '[elsewhere]\ntime = "measured"\nkernels = { float = 1.0 }\n')
        refused = self.foretrace("simulate", record, "--machine", self.machine, "--compute", f"table:{table}",
                                 status=1)
        self.assertIn("say --scale-from HERE.toml", refused.err)

    # --- ranks that are slower ------------------------------------------------------

    def test_slower_ranks_of_announced_steps(self):
        """By the figures: a step takes 1 us there, on rank 1 twice that, on rank 2 half."""
        program = [harness.paper_program("sor"), "--size", "24"]
        slower = ["--slower", "rank:1=2,rank:2=0.5"]
        predicted = self.predict(RANKS, program, machine=self.machine, compute="annotated", options=slower)
        record = self.record(RANKS, program)
        self.foretrace("simulate", record, "--machine", self.machine, "--compute", "annotated", *slower, "-o",
                       self.directory / "simulated.ftr")
        self.foretrace("simulate", "-n", RANKS, "--machine", self.machine, "--compute", "annotated", *slower, "-o",
                       self.directory / "live.ftr", "--", *program)
        for trace in ("simulated.ftr", "live.ftr"):
            self.assert_same_ticks(predicted, self.directory / trace)
        plain = self.computed(self.simulate(record, machine=self.machine, compute="annotated"))
        self.assertGreater(min(plain), 0)
        self.assertEqual(self.computed(predicted), [plain[0], 2 * plain[1], plain[2] // 2])

    def test_slower_nodes_of_recorded_times(self):
        record = self.record(RANKS, [self.program])
        plain, twice = (self.computed(self.simulate(record, machine=self.machine, compute=f"recorded:{factor}"))
                        for factor in (1, 2))
        out = self.directory / "slower.ftr"
        self.foretrace("simulate", record, "--machine", self.machine, "--ranks-per-node", 2, "--slower", "node:0=2", "-o", out)
        self.assertEqual(self.computed(out), [twice[0], twice[1], plain[2]])
        self.foretrace("simulate", record, "--machine", self.machine, "--slower", "rank:0..2=2", "-o", out)
        self.assertEqual(self.computed(out), twice)
        again = f"replayed:{record}"
        plain = self.computed(self.simulate(record, machine=self.machine, compute=again))
        self.foretrace("simulate", record, "--machine", self.machine, "--compute", again, "--slower", "rank:1=2", "-o", out)
        self.assertEqual(self.computed(out), [plain[0], 2 * plain[1], plain[2]])

    def test_slower_ranks_of_a_table(self):
        """In all ways: the table's times are whole microseconds."""
        table = f"table:{self.write('table.toml', TABLE)}"
        slower = ["--slower", "rank:1=2"]
        predicted = self.predicted(table, options=slower)
        self.foretrace("simulate", self.record(RANKS, [self.program]), "--machine", self.machine, "--compute", table,
                       *slower, "-o", self.directory / "simulated.ftr")
        for trace in (self.directory / "simulated.ftr", self.live(table, options=slower)):
            self.assert_same_ticks(predicted, trace)
        plain = self.computed(self.predicted(table, "plain.ftr"))
        self.assertEqual(self.computed(predicted), [plain[0], 2 * plain[1], plain[2]])

    def test_slower_what_there_is_not(self):
        record = self.record(RANKS, [self.program])
        command = ["simulate", record, "--machine", self.machine, "--slower"]
        self.assertIn("there is no rank 3; the last one is 2", self.foretrace(*command, "rank:3=2", status=2).err)
        self.assertIn("expected rank:R=FACTOR or node:N=FACTOR", self.foretrace(*command, "3=2", status=2).err)
        self.assertIn("--slower has no effect with --compute none",
                      self.foretrace(*command, "rank:1=2", "--compute", "none").err)
        refused = self.foretrace("predict", "-n", 2, "--machine", self.machine, "--slower", "rank:1", "--", self.program,
                                 status=2)
        self.assertIn("expected rank:R=FACTOR or node:N=FACTOR", refused.err)
        refused = self.foretrace("predict", "-n", 2, "--machine", self.machine, "--slower", "rank:2=2", "--", self.program,
                                 status=2)
        self.assertIn("there is no rank 2; the last one is 1", refused.err)

    # --- replayed ------------------------------------------------------------------

    def test_replayed_times_are_those_of_the_run(self):
        record = self.record(RANKS, [self.program])
        simulated = self.simulate(record, machine=self.machine, compute="recorded")
        self.assert_same_ticks(simulated, self.predicted(f"replayed:{record}"))
        self.assert_same_ticks(simulated, self.live(f"replayed:{record}"))
        self.assertGreater(self.compute_before(simulated)[0][-1][1], 0)

    def test_another_program_is_told(self):
        record = self.record(RANKS, [self.program, 3])
        told = re.compile(r"rank \d calls exchange where .*record.ftr has MPI_Finalize \(event \d+\)")
        result = harness.foretrace("predict", "-n", RANKS, "--machine", self.machine, "--compute",
                                   f"replayed:{record}", "--", self.program, cwd=self.directory)
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, told)
        self.live(f"replayed:{record}", status=1)
        self.assertRegex(self.result.err, told)
        refused = self.foretrace("predict", "-n", 2, "--machine", self.machine, "--compute", f"replayed:{record}",
                                 "--", self.program, status=1)
        self.assertIn("is of a run on 3 ranks, not 2", refused.err)

    # --- kernels that are left out -------------------------------------------------

    def test_kernels_are_left_out_and_their_time_is_not(self):
        self.program = self.compile("kernels", kind="kernels")
        everything = self.predicted("annotated", "all.ftr")
        self.assertIn("relaxed 6, summed 6, talked 6", self.result.out)
        loud = "what the program computes and prints is NOT what it would be"
        left_out = ("rank 0 left out 4 of relax, 5 of sum; kernel talk makes MPI calls or marks and is always "
                    "executed")
        sampled = self.predicted("annotated", options=["--sample", 1])
        self.assertIn("relaxed 2, summed 1, talked 6", self.result.out)
        self.assertIn(loud, self.result.err)
        self.assertIn(left_out, self.result.err)
        self.assert_same_ticks(everything, sampled)
        self.live("annotated", options=["--sample", 1])
        self.assertIn("relaxed 2, summed 1, talked 6", self.result.out)
        self.assertIn(loud, self.result.err)
        self.assertIn(left_out, self.result.err)
        self.assert_same_ticks(everything, self.directory / "live.ftr")
        record = self.directory / "record.ftr"
        recorded = self.foretrace("record", "-n", RANKS, "--sample", 1, "-o", record, "--", self.program)
        self.assertIn("relaxed 2, summed 1, talked 6", recorded.out)
        self.assert_same_ticks(everything, self.simulate(record, machine=self.machine))
        self.assertIn("sample=1", self.foretrace("report", record).out)

    def test_sample_wants_a_number_and_a_program(self):
        record = self.record(RANKS, [self.program])
        self.foretrace("record", "-n", RANKS, "--sample", 0, "--", self.program, status=2)
        refused = self.foretrace("simulate", record, "--machine", self.machine, "--sample", 2, status=2)
        self.assertIn("--sample is for programs that run live; say -n RANKS", refused.err)


if __name__ == "__main__":
    harness.main()
