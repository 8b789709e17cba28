"""Reductions take time by their operation and type: what a trace keeps of them, recorded, predicted
and live, and what the machine's [reduction] makes of it.

tests/e2e/programs/reduced.c combines 1000 elements in many ways.
"""

import re

import harness

RANKS = 2
LOGGPS = "L=2us,os=500ns,or=700ns,g=0,G=1ns"
# (call, what it combines; None: doubles are added, or nothing is combined)
EXPECTED = [("Allreduce", each) for each in (
    None, "sum_int32", "prod_int64", "minmax_float", "minmax_int16", "logical_int8", "logical_int8",
    "bit_int8", "sum_complex_double", "prod_complex_float", "sum_long_double", "minmaxloc_double",
    "minmaxloc_int32", "sum_float", "other")]
EXPECTED += [("Reduce", "bit_int64"), ("Scan", "minmax_double"), ("Exscan", None),
             ("Reduce_scatter", "minmax_int32"), ("Reduce_scatter_block", "bit_int16"),
             ("Bcast", None), ("Reduce_local", "sum_double"), ("Reduce_local", "sum_double"),
             ("Reduce_local", "minmax_int32"), ("Reduce_local", "other"), ("Reduce_local", None)]
# ns for a byte: none like another. `other` is not there.
COSTS = {"sum_double": 2, "sum_int32": 3, "prod_int64": 5, "minmax_float": 7, "minmax_int16": 11,
         "logical_int8": 13, "bit_int8": 17, "sum_complex_double": 19, "prod_complex_float": 23,
         "sum_long_double": 29, "minmaxloc_double": 31, "minmaxloc_int32": 37, "sum_float": 41,
         "bit_int64": 43, "minmax_double": 47, "minmax_int32": 53, "bit_int16": 59}
BYTES = {"Allreduce": [8000, 4000, 8000, 4000, 2000, 1000, 1000, 1000, 16000, 8000, 16000, 12000,
                       8000, 4000, 8000],
         "Reduce_local": [8000, 8000, 4000, 56, 0]}


class Reduced(harness.TestCase):
    def setUp(self):
        super().setUp()
        table = "".join(f'{name} = "{cost}ns"\n' for name, cost in COSTS.items())
        self.machine = self.write("with.toml", harness.T3D.read_text() + f"\n[reduction]\n{table}")

    def command(self, which=None):
        return [harness.test_program("reduced", which)]

    def on(self, trace, *options, machine=None):
        out = self.directory / "out.ftr"
        self.foretrace("simulate", trace, "--machine", machine or self.machine, "--compute", "none",
                       "--loggps", LOGGPS, *options, "-o", out)
        return out

    def live(self, *options):
        out = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", RANKS, "--machine", self.machine, "--compute", "none",
                       "--loggps", LOGGPS, *options, "-o", out, "--", *self.command())
        return out

    def calls(self, trace):
        """By rank [(call, what it combines, how long it took)] of those that combine, and of bcast."""
        return [[(name.removeprefix("MPI_"), fields.get("reduction"),
                  fields["leave"] - fields["enter"])
                 for _, name, fields in rank if re.match("MPI_(All|Ex)?(reduce|scan|Reduce|Scan|Bcast)", name)]
                for rank in self.events(trace)]

    def check_classes(self, trace):
        for rank in self.calls(trace):
            found = [(name, what and what.partition("/")[0]) for name, what, _ in rank]
            self.assertEqual(found, EXPECTED)

    def test_what_a_trace_keeps(self):
        """Of a recording, of its simulation, of a prediction and of a live run alike."""
        trace = self.record(RANKS, self.command())
        self.check_classes(trace)
        self.assertEqual(trace.read_bytes()[8], 5)
        self.assert_survives_text(trace)
        self.check_classes(self.on(trace))
        predicted = self.predict(RANKS, self.command(), machine=self.machine)
        self.check_classes(predicted)
        self.assert_same_ticks(predicted, self.simulate(trace, machine=self.machine))
        self.check_classes(self.live())

    def test_live_as_recorded(self):
        trace = self.record(RANKS, self.command())
        for options in (("--network", "datasheet"), ("--network", "loggps", "--collectives", "openmpi"),
                        ("--network", "flow", "--topology", "star:2?latency=1us&bandwidth=1GB/s",
                         "--collectives", "mpich")):
            with self.subTest(options=options):
                self.assert_same_ticks(self.live(*options), self.on(trace, *options))

    def test_sums_have_the_digits_of_the_mpi(self):
        """What is added first decides on the last digits, and they on an adaptive program's course."""
        program = self.compile("""#include <mpi.h>
            #include <stdio.h>
            int main(int argc, char** argv) {
              double own[50], sum[50], single;
              int rank;
              MPI_Init(&argc, &argv);
              MPI_Comm_rank(MPI_COMM_WORLD, &rank);
              unsigned state = 12345 + 777 * rank;
              for (int i = 0; i < 50; ++i)
                own[i] = (int)(state = 1664525 * state + 1013904223) / 3.0 * (i % 3 ? 1 : 1e6);
              MPI_Allreduce(own, sum, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
              for (int i = 0; rank == 0 && i < 50; ++i) printf("%a ", sum[i]);
              for (int i = 0; i < 50; ++i) {
                MPI_Allreduce(own + i, &single, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                if (rank == 0) printf("%a ", single);
              }
              if (rank == 0) printf("\\n");
              MPI_Finalize();
              return 0;
            }""")
        for ranks in (3, 4, 5, 6, 8):
            with self.subTest(ranks=ranks):
                real = self.ok(harness.plain(ranks, [program])).out.split()
                self.assertEqual(len(real), 100)
                live = self.foretrace("simulate", "-n", ranks, "--machine", self.machine, "--", program).out.split()
                self.assertEqual(live[:100], real)

    def test_calls_of_one_rank(self):
        """MPI_Reduce_local takes the time of the table, as predicted and in the note."""
        trace = self.record(RANKS, self.command())
        times = [bytes * 1000 * COSTS.get(what or "sum_double", COSTS["sum_double"])
                 for bytes, (_, what) in zip(BYTES["Reduce_local"], EXPECTED[-5:])]
        predicted = self.predict(RANKS, self.command(), machine=self.machine)
        self.assertIn("reductions that the machine model lacks, taken as sum_double: other",
                      self.result.err)
        simulated = self.simulate(trace, machine=self.machine)
        self.assertIn("taken as sum_double: other", self.result.err)
        for each in (predicted, simulated, self.live()):
            for rank in self.calls(each):
                self.assertEqual([took for _, _, took in rank[-5:]], times)

    def test_without_a_table(self):
        """Nothing takes time, and that is said of the calls alone."""
        trace = self.record(RANKS, self.command())
        for made in (self.predict(RANKS, self.command()), self.simulate(trace)):
            self.assertRegex(self.result.err, "so these take no time: .*reduce_local")
            for rank in self.calls(made):
                self.assertEqual([took for _, _, took in rank[-5:]], [0] * 5)

    def test_messages_by_class(self):
        """Recursive doubling on two ranks is one exchange: what comes to it is the combining."""
        trace = self.record(RANKS, self.command())
        options = ("--network", "loggps", "--collectives", "allreduce=recursive_doubling")
        count = len(BYTES["Allreduce"])
        found = {}
        for name, machine, more in (("none", harness.T3D, ()), ("table", self.machine, ()),
                                    ("given", self.machine, ("--reduction", "4ns"))):
            out = self.calls(self.on(trace, *options, *more, machine=machine))
            found[name] = [[took for _, _, took in rank[:count]] for rank in out]
        for rank in range(RANKS):
            for i, bytes in enumerate(BYTES["Allreduce"]):
                cost = COSTS.get(EXPECTED[i][1] or "sum_double", COSTS["sum_double"])
                without = found["none"][rank][i]
                self.assertEqual(found["table"][rank][i] - without, bytes * cost * 1000, EXPECTED[i])
                self.assertEqual(found["given"][rank][i] - without, bytes * 4000, EXPECTED[i])

    def test_text_programs(self):
        """GOAL's reductions add doubles; SimGrid's traces say themselves what they compute."""
        goal = self.write("a.goal", "num_ranks 2\nrank all {\n  allreduce 8000b\n}\n")
        ti = self.write("a.ti", "0 init\n1 init\n0 allreduce 8000 0\n1 allreduce 8000 0\n")
        options = ("--network", "loggps", "--collectives", "allreduce=recursive_doubling")
        for program, more in ((goal, 8000 * COSTS["sum_double"] * 1000), (ti, 0)):
            without, table = (self.calls(self.on(program, *options, machine=machine))[0][-1][2]
                              for machine in (harness.T3D, self.machine))
            self.assertEqual(table - without, more, program)

    def test_both_mpis(self):
        """Who recorded it makes no difference."""
        other = {"openmpi": "mpich", "mpich": "openmpi"}[harness.mpi]
        if not harness.test_program("reduced", other).exists():
            self.skipTest(f"no {other}")
        traces = [self.record(RANKS, self.command(which), f"{which}.ftr")
                  for which in (harness.mpi, other)]
        self.assertEqual(*[self.calls(self.on(trace, "--network", "loggps")) for trace in traces])


if __name__ == "__main__":
    harness.main()
