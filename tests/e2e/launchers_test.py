"""Programs under launchers: another MPI's, one that the program does not hear, -n inside one."""

import os
import shutil
import subprocess
import time

import harness


# Until a file is there.
WAITS = r"""
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  while (access(argv[1], F_OK) != 0) usleep(20000);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


class Launchers(harness.TestCase):
    SUBCOMMANDS = (["record"], ["predict", "--machine", harness.T3D], ["profile"])

    def setUp(self):
        super().setUp()
        self.other = "mpich" if harness.mpi == "openmpi" else "openmpi"
        self.life = [harness.paper_program("life"), "--rows", 9, "--cols", 9]

    def output(self, subcommand):
        return self.directory / ("run.fprof" if subcommand[0] == "profile" else "run.ftr")

    def under(self, mpi, *words, env=None):
        return harness.run([*harness.launcher(2, mpi), *words], limit=100, env=env)

    def ours(self, result):
        """What we said: the launchers say that a process ended with a status, each in its own way."""
        return [line for line in result.err.splitlines() if line.startswith("foretrace: ")]

    def refused(self, result, *says):
        self.assertEqual(result.status, 2, str(result))
        lines = self.ours(result)
        self.assertEqual(len(lines), 1, str(result))
        for word in says:
            self.assertIn(word, lines[0])
        self.assertNotIn("digest", result.out)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_installed_in_a_path_that_the_dynamic_linker_takes_for_two(self):
        """Nothing is started, and one line says why."""
        for name in ("with space", "with:colon"):
            prefix = self.directory / name
            (prefix / "bin").mkdir(parents=True)
            (prefix / "lib").mkdir()
            shutil.copy(harness.tool(), prefix / "bin")
            (prefix / "lib/foretrace").symlink_to(harness.build / "lib/foretrace")
            for sub in (*self.SUBCOMMANDS, ["simulate", "--machine", harness.T3D]):
                result = harness.run([prefix / "bin/foretrace", *sub, "-n", 2, "--", *self.life], cwd=self.directory)
                self.assertEqual((result.status, result.out), (1, ""), str(result))
                self.assertEqual(len(result.err.splitlines()), 1, str(result))
                self.assertIn("from a path with a space or a colon", result.err)
            shutil.rmtree(prefix)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_program_is_called_by_the_name_that_was_given(self):
        """Also where it is looked up in PATH."""
        program = self.compile(r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  printf("I am %s.\n", argv[0]);
  return MPI_Finalize();
}
""", "named")
        env = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
        for name in (program.name, str(program)):
            for ours in (["record", "-n", 1], ["predict", "-n", 1, "--machine", harness.T3D], ["profile", "-n", 1],
                         ["simulate", "-n", 1, "--machine", harness.T3D], ["record"]):
                launcher = harness.launcher(1) if ours == ["record"] else []
                output = self.output(ours)
                result = self.ok(harness.run([*launcher, harness.tool(), *ours, "-o", output, "--", name], env=env))
                self.assertIn(f"I am {name}.", result.out.splitlines())

    def test_address_sanitizer_need_not_come_first(self):
        """It finds what it would find. MPI libraries leave memory behind."""
        program = self.directory / "sanitized"
        source = self.write("sanitized.c", r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char *memory = malloc(10);
  memory[argc > 1 ? 10 : 9] = 1;
  puts("written");
  free(memory);
  return MPI_Finalize();
}
""")
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", "-fsanitize=address", source, "-o", program]))
        for ours in (["record", "-n", 1], ["predict", "-n", 1, "--machine", harness.T3D], ["profile", "-n", 1],
                     ["simulate", "-n", 1, "--machine", harness.T3D]):
            run = [harness.tool(), *ours, "-o", self.output(ours), "--", program]
            self.assertIn("written", self.ok(harness.run(run, env={"ASAN_OPTIONS": "detect_leaks=0"})).out)
            wrong = harness.run([*run, "wrong"], env={"ASAN_OPTIONS": "detect_leaks=0"})
            self.assertIn("heap-buffer-overflow", wrong.err)
            self.assertNotEqual(wrong.status, 0)

    def test_another_mpis_launcher(self):
        if not harness.has_launcher(self.other):
            self.skipTest("needs both MPIs")
        for sub in self.SUBCOMMANDS:
            result = self.under(self.other, harness.tool(), *sub, "-o", self.output(sub), "--", *self.life)
            self.refused(result, "was built for", "rank 0 of 1", f"mpirun.{harness.mpi} -n 2",
                         f"foretrace {sub[0]} -n 2")

    def test_n_inside(self):
        for sub in self.SUBCOMMANDS:
            result = self.under(harness.mpi, harness.tool(), *sub, "-n", 3, "-o", self.output(sub), "--",
                                *self.life)
            self.refused(result, f"{sub[0]} -n 3", "has started 2 processes already", "leave out -n")

    def test_several_programs(self):
        """-n starts one, also live; a launcher starts several, whose ranks are in one trace."""
        several = [*self.life, ":", "-n", 1, *self.life]
        for sub in (*self.SUBCOMMANDS, ["simulate", "--machine", harness.T3D]):
            result = harness.run([harness.tool(), *sub, "-n", 2, "-o", self.output(sub), "--", *several])
            self.refused(result, "':' is between several programs", "mpirun -n 1 foretrace record")
        record = [harness.tool(), "record", "-o", self.output(["record"]), "--", *self.life]
        self.ok(self.under(harness.mpi, *record, ":", "-n", 1, *record))
        self.assertEqual(len(self.events(self.output(["record"]))), 3)

    def test_says_once_what_was_written(self):
        output = self.output(["record"])
        words = [harness.tool(), "record", "-o", output]
        result = self.ok(self.under(harness.mpi, *words, "--", *self.life))
        self.assertEqual(self.ours(result), [f"foretrace: wrote {output}"])
        result = self.ok(harness.run([*words, "-n", 2, "--", *self.life]))
        self.assertNotIn("wrote", result.err)
        self.assertIn(f"-> {output}", result.err)

    def predict_in_both_orders(self, machine, status=0):
        """What we say is the same whoever starts the ranks."""
        output = self.output(["predict"])
        words = [harness.tool(), "predict", "--machine", machine, "--compute", "annotated", "-o", output]
        result = harness.run([*words, "-n", 2, "--", *self.life])
        inside = self.under(harness.mpi, *words, "--", *self.life)
        self.assertEqual((result.status, inside.status), (status, status), str(inside))
        self.assertEqual(self.ours(inside), self.ours(result))
        return self.ours(result)

    def test_predicted_time_under_a_launcher(self):
        lines = self.predict_in_both_orders(harness.T3D)
        self.assertEqual(len(lines), 1)
        self.assertIn("predicted time", lines[0])

    def test_no_time_from_what_was_not_measured_under_a_launcher(self):
        model = harness.T3D.read_text().replace('name = "barrier"', 'name = "barrier"\nvalid = false')
        lines = self.predict_in_both_orders(self.write("m.toml", model), status=1)
        self.assertNotIn("predicted time", "\n".join(lines))

    def alone(self, mode, *words, env=None):
        """Two processes, each rank 0 of 1: both run as without us, one line says why, and there is
        no trace of half of them."""
        result = self.ok(self.under(harness.mpi, *words, *self.life, env=env))
        self.assertEqual(result.out.count("digest"), 2, str(result))
        lines = self.ours(result)
        self.assertEqual(len(lines), 1, str(result))
        for word in ("started 2 processes", "rank 0 of 1", f"mpirun.{harness.mpi}", "without Foretrace"):
            self.assertIn(word, lines[0])
        self.assertEqual(list(self.directory.iterdir()), [], mode)

    # Keeps a program from hearing its launcher, as a container may.
    DEAF = ["sh", "-c", "for name in $(env | grep -oE '^(PMI_FD|PMIX_[A-Za-z_0-9]*|OMPI_MCA_[A-Za-z_0-9]*)'); do "
                        "unset $name; done; exec \"$@\"", "sh"]

    def test_a_launcher_that_the_program_does_not_hear(self):
        for sub in (["record"], ["predict", "--machine", harness.T3D]):
            self.alone(sub[0], *self.DEAF, harness.tool(), *sub, "-o", self.output(sub), "--")

    def test_the_library_alone(self):
        """A program that is linked with the library, started by the other MPI's launcher."""
        if not harness.has_launcher(self.other):
            self.skipTest("needs both MPIs")
        library = harness.build / "lib" / "foretrace" / f"libforetrace-{harness.mpi}.so"
        for mode in ("record", "profile"):
            output = self.output([mode])
            result = self.ok(self.under(
                self.other, "env", f"FORETRACE_MODE={mode}", f"FORETRACE_OUTPUT={output}",
                f"LD_PRELOAD={library}", *self.life))
            self.assertEqual(result.out.count("digest"), 2, str(result))
            self.assertEqual(len(self.ours(result)), 1, str(result))
            self.assertEqual(list(self.directory.iterdir()), [])

    def test_no_launcher_to_be_seen(self):
        """Two runs of one rank at once under one name: one is recorded, the other says why it is not."""
        library = harness.build / "lib" / "foretrace" / f"libforetrace-{harness.mpi}.so"
        output = self.directory / "run.ftr"
        env = harness.environment({"FORETRACE_MODE": "record", "FORETRACE_OUTPUT": str(output),
                                   "LD_PRELOAD": str(library)})
        source = self.write("waits.c", WAITS)
        program = self.directory / "waits"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", program]))
        errors = [self.directory / f"{number}.err" for number in range(3)]
        runs = []
        for path in errors:
            with path.open("w") as error:
                runs.append(subprocess.Popen([program, self.directory / "go"], env=env, stderr=error))
        refused = lambda: sum("another run is writing it" in path.read_text() for path in errors)
        until = time.monotonic() + 60
        while refused() < 2 and time.monotonic() < until:
            time.sleep(0.05)
        (self.directory / "go").touch()
        self.assertEqual([run.wait(timeout=40) for run in runs], [0, 0, 0])
        self.assertEqual(refused(), 2, [path.read_text() for path in errors])
        self.assertEqual(sorted(name for name in os.listdir(self.directory) if name.startswith("run.")), ["run.ftr"])
        self.assertEqual([name for _, name, _ in self.events(output)[0]], ["MPI_Init", "MPI_Barrier", "MPI_Finalize"])


if __name__ == "__main__":
    harness.main()
