"""`foretrace validate` names an error that was planted in a machine model before all else.

A simulated run stands for the real ones, on the model without the error, so that nothing else
differs. What real runs are compared with is looked at as well, but no time of theirs is judged.
"""

import json
import re

import harness

TABLE = """
[elsewhere]
time = "none"
[[region]]
phase = "solve"
step = "{solve}us"
[[region]]
phase = "exchange"
step = "1us"
"""


def functions(machine):
    return re.split(r"(?m)^(?=\[\[function\]\])", machine)


class Validate(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = harness.with_threshold(harness.T3D.read_text(), 8192)
        self.run_file = self.record(4, [harness.test_program("validated")], name="run.ftr")
        self.replay("as-it-is", self.machine)

    def replay(self, name, machine, compute="annotated"):
        path = self.write(f"{name}.toml", machine)
        self.simulate(self.run_file, machine=path, compute=compute, name=f"{name}.ftr")

    def validate(self, name, *options, status=0):
        return self.foretrace("validate", "--machine", self.directory / f"{name}.toml", "--real",
                              self.directory / "as-it-is.ftr", "--predicted", self.directory / f"{name}.ftr",
                              *options, status=status)

    def first(self, name):
        return json.loads(self.validate(name, "--json").out)["ways"][0]["causes"][0]

    def test_waits_for_something_else(self):
        """For a process, which predictions know; and for a thread: no share of what a rank computed, which is nothing."""
        program = self.compile('''#include <mpi.h>
            #include <pthread.h>
            #include <time.h>
            #include <unistd.h>
            static int ends[2];
            static void *work(void *nothing) {
              struct timespec used;
              do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
              while (used.tv_sec < 1);
              return write(ends[1], "x", 1) == 1 ? nothing : NULL;
            }
            int main(int argc, char** argv) {
              char byte;
              pthread_t thread;
              if (pipe(ends) != 0) return 2;
              if (argc == 1 && fork() == 0) return usleep(2500000) != 0 || write(ends[1], "x", 1) != 1;
              MPI_Init(&argc, &argv);
              if (argc > 1) pthread_create(&thread, NULL, work, NULL);
              const long got = read(ends[0], &byte, 1);
              MPI_Finalize();
              return got != 1;
            }''')
        command = ["validate", "-n", 1, "--runs", 1, "--machine", harness.T3D, "--", program]
        said = self.foretrace(*command).out
        self.assertNotIn("without a core", said)
        self.assertRegex(said, r"waited 2\.\d+ s for files, other processes or the like: that is part of what is measured")
        said = self.foretrace(*command, "thread").out
        self.assertRegex(said, r"the ranks spent (1|[0-2]\.\d+) s between their calls without a core, more than they computed")
        self.assertNotIn("% of what they computed", said)

    def test_what_logging_costs_is_no_time_of_the_program(self):
        """Half of what the runs took with their calls logged: as if logging had taken the other half."""
        self.replay("half", self.machine, compute="annotated:0.5us")
        half, whole = (self.directory / f"{name}.ftr" for name in ("half", "as-it-is"))
        alone = json.loads(self.validate("half", "--json").out)
        found = json.loads(self.validate("half", "--untraced", half, half, half, "--json").out)
        self.assertEqual(found["measured"], {**found["measured"], "median": found["ways"][0]["predicted"]["median"]})
        self.assertEqual(found["traced"], alone["measured"])
        self.assertEqual(found["ways"][0]["error"], 0)
        self.assertGreater(found["traced_call"], 0)
        self.assertEqual(alone["traced_call"], 0)
        self.assertIn("note: with their calls logged the runs take", self.validate("half", "--untraced", half).out)
        self.assertEqual(json.loads(self.validate("half", "--untraced", whole, "--json").out)["traced_call"], 0)
        cpu = self.record(4, [harness.test_program("validated")], name="cpu.ftr")
        self.assertIn("--untraced has a run without a clock", self.validate("half", "--untraced", cpu, status=1).err)
        refused = self.foretrace("validate", "--machine", harness.T3D, "--untraced", half, "-n", 1, "--", "true", status=2)
        self.assertIn("--untraced is of runs that --real has", refused.err)

    def test_a_program_that_fails(self):
        """What the program printed is told to be the program's."""
        program = self.compile("""#include <mpi.h>
            #include <stdio.h>
            int main(int argc, char** argv) {
              MPI_Init(&argc, &argv);
              printf("out of luck\\n");
              MPI_Finalize();
              return 3;
            }""", name="fails")
        failed = self.foretrace("validate", "-n", 1, "--runs", 1, "--machine", harness.T3D, "--", program, status=1)
        self.assertRegex(failed.err, r"a run ended with status 3; foretrace record and the program, whose lines do not begin "
                                     r"with 'foretrace:', said:\n(.*\n)*out of luck\n")

    def test_a_recording_that_logs_no_call(self):
        """What the run takes, and that it says nothing else; the program is as it was."""
        trace = self.directory / "never.ftr"
        said = self.foretrace("record", "-n", 2, "--clock", "wall", "--start", "never", "-o", trace, "--",
                              harness.test_program("validated"))
        note = "the calls of this run were not logged (--start never)"
        self.assertIn(note, said.err)
        text = self.foretrace("convert", trace, "-o", self.directory / "never.csv").out
        rows = (self.directory / "never.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 2 * 4, text)
        self.assertTrue(all("MPI_Init" in row or "MPI_Finalize" in row for row in rows[1:]), rows)
        self.assertIn(note, self.foretrace("simulate", trace, "--machine", harness.T3D).err)
        aborts = self.compile("""#include <mpi.h>
            int main(int argc, char** argv) {
              MPI_Init(&argc, &argv);
              return MPI_Abort(MPI_COMM_WORLD, 7);
            }""", name="aborts")
        said = self.foretrace("record", "-n", 1, "--start", "never", "-o", self.directory / "aborts.ftr", "--", aborts,
                              status=7)
        self.assertIn("rank 0 called MPI_Abort with code 7", said.err)
        refused = self.foretrace("predict", "-n", 2, "--machine", harness.T3D, "--start", "never", "--",
                                 harness.test_program("validated"), status=2)
        self.assertIn("--start", refused.err)

    def test_several_traces(self):
        run = self.directory / "as-it-is.ftr"
        said = self.foretrace("validate", "--machine", harness.T3D, "--real", run, run, run, "--predicted", run,
                              "--predicted", run).out
        self.assertIn("4 ranks, 3 runs:", said)

    def test_nothing_planted(self):
        self.assertIn("no difference of 0.5 % of the time or more is beyond", self.validate("as-it-is").out)

    def test_time_per_byte_doubled(self):
        def doubled(block):
            if not re.match(r'\[\[function\]\]\nname = "(recv|recvmin)"', block):
                return block
            return re.sub(r"^k = ([0-9.e-]+)", lambda k: f"k = {2 * float(k[1])}", block, flags=re.M)

        self.replay("slow", "".join(map(doubled, functions(self.machine))))
        cause = self.first("slow")
        self.assertEqual(cause["kind"], "per byte", cause)
        self.assertRegex(cause["text"], r"^MPI_Recv of 65536 B at .* in phase exchange .* recv, 257 to any")

    def test_threshold_moved(self):
        self.replay("eager", harness.with_threshold(harness.T3D.read_text(), 32768))
        cause = self.first("eager")
        self.assertEqual(cause["kind"], "threshold", cause)
        self.assertRegex(cause["text"], r"^MPI_Send of 16384 B .* waits .* S is 32768 B in the model")

    def test_threshold_moved_the_other_way(self):
        self.replay("as-it-is", harness.with_threshold(harness.T3D.read_text(), 32768))
        self.replay("late", self.machine)
        cause = self.first("late")
        self.assertEqual(cause["kind"], "threshold", cause)
        self.assertIn("does not wait", cause["text"])

    def test_kernel_too_slow(self):
        for name, solve in (("as-it-is", 1), ("kernel", 1.3)):
            table = self.write(f"{name}-table.toml", TABLE.format(solve=solve))
            self.replay(name, self.machine, compute=f"table:{table}")
        cause = self.first("kernel")
        self.assertEqual(cause["kind"], "computation", cause)
        self.assertIn("in phase solve", cause["text"])
        self.assertIn("(1.3 times)", cause["text"])

    def test_missing_function(self):
        self.replay("lacks", "".join(block for block in functions(self.machine) if '"allreduce"' not in block))
        cause = self.first("lacks")
        self.assertEqual(cause["kind"], "missing", cause)
        self.assertIn("no allreduce", cause["text"])

    def test_within(self):
        self.replay("half", self.machine, compute="annotated:0.5us")
        self.validate("half", "--within", "5%", status=1)
        self.validate("half", "--within", "90%")
        self.validate("as-it-is", "--within", "0.1%")

    def test_real_runs(self):
        """Both ways have the same times where the computation has."""
        found = json.loads(self.foretrace(
            "validate", "-n", "2", "--runs", "2", "--compute", "annotated", "--json", "--machine",
            (self.directory / "as-it-is.toml"), "--", harness.test_program("validated")).out)
        self.assertEqual([way["way"] for way in found["ways"]], ["predict", "simulate"])
        self.assertEqual(found["ways"][0]["predicted"], found["ways"][1]["predicted"])
        self.assertTrue(all(way["same_calls"] for way in found["ways"]))
        self.assertGreater(found["measured"]["median"], 0)
        self.assertEqual(found["runs"], 2)

    def test_machine_in_another_state(self):
        """No cache line takes a second; of a model that does not say, nothing is said of it."""
        def run(name):
            return self.foretrace("validate", "-n", "2", "--runs", "1", "--machine", self.directory / f"{name}.toml",
                                  "--", harness.test_program("validated")).out

        self.write("slow.toml", self.machine.replace("timer_resolution", "cache_line = 1\ntimer_resolution", 1))
        self.assertRegex(run("slow"), r"note: a cache line takes \S+ ns from core to core, 1e\+09 ns when the")
        self.assertNotIn("1e+09", run("as-it-is"))

    def test_program_fails(self):
        result = self.foretrace("validate", "-n", "2", "--machine", harness.T3D, "--",
                                harness.test_program("misbehave"), "abort", "3",
                                status=1)
        self.assertIn("a run ended with status", result.err)

    def test_wrong_use(self):
        run = self.directory / "as-it-is.ftr"
        for arguments, says in (
            (["--real", run], "--predicted"),
            (["-n", "2"], "no program"),
            (["--", "/bin/true"], "-n RANKS"),
            (["--real", run, "--predicted", run, "--", "/bin/true"], "leave out"),
            (["-n", "2", "--within", "much", "--", "/bin/true"], "--within"),
        ):
            with self.subTest(arguments=arguments):
                result = self.foretrace("validate", "--machine", harness.T3D, *arguments, status=2)
                self.assertIn(says, result.err)
        recorded = self.foretrace("validate", "--machine", harness.T3D, "--real", self.run_file,
                                  "--predicted", run, status=1)
        self.assertIn("--clock wall", recorded.err)


if __name__ == "__main__":
    harness.main()
