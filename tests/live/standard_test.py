"""foretrace-cc and foretrace-c++: programs compiled for MPI's standard ABI without any MPI, and run live."""

import os
import re
import shutil
import stat
import subprocess

import harness_live
from harness_live import harness

SUM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
"""
# Programs of the papers: point-to-point and collectives, non-blocking, races for a wildcard.
PAPERS = {"life": "cowichan/life.cpp", "sor": "cowichan/sor.cpp", "taskfarm": "taskfarm/taskfarm.cpp"}
ARGUMENTS = {"taskfarm": ["--tasks", "30"]}


class Standard(harness_live.TestCase):
    def compiler(self, name="foretrace-cc"):
        return harness.build / "bin" / name

    def compile(self, text=SUM, name="program.c", compiler="foretrace-cc", options=(), limit=60):
        source = self.write(name, text)
        program = self.directory / "program"
        self.ok(harness.run([self.compiler(compiler), "-Wall", "-Wextra", "-Werror", *options, source,
                             "-o", program], limit=limit))
        return program

    def needed(self, program):
        output = subprocess.run(["readelf", "-Wd", program], check=True, capture_output=True, text=True).stdout
        return re.findall(r"\(NEEDED\).*\[(.*)\]", output), re.findall(r"\((RUNPATH|RPATH)\).*\[(.*)\]", output)

    def test_c(self):
        for options in ([], ["-std=c99", "-pedantic"]):
            self.live(5, [self.compile(options=options)])
            self.assertEqual(harness_live.said(self.result), ["sum 10"])

    def test_cplusplus(self):
        for options in (["-std=c++98"], ["-std=c++20", "-pedantic"]):
            self.live(5, [self.compile(name="program.cpp", compiler="foretrace-c++", options=options)])
            self.assertEqual(harness_live.said(self.result), ["sum 10"])

    def test_mpi_abi_is_the_only_library(self):
        libraries, paths = self.needed(self.compile())
        self.assertEqual(libraries, ["libmpi_abi.so.0", "libc.so.6"])
        # LD_LIBRARY_PATH comes before RUNPATH: another MPI's library may take the place.
        self.assertEqual([kind for kind, _ in paths], ["RUNPATH"])

    def test_no_installed_mpi_is_seen(self):
        source = self.write("program.c", SUM)
        files = self.ok(harness.run([self.compiler(), "-M", source])).out
        self.assertIn("lib/foretrace/live/standard/include/mpi.h", files)
        self.assertNotRegex(files, "openmpi|mpich")
        # Nor where the program's own options name one.
        other = self.directory / "other"
        other.mkdir()
        (other / "mpi.h").write_text("#error not this one\n")
        self.compile(options=[f"-I{other}"])

    def test_compiling_and_linking_apart(self):
        source = self.write("program.c", SUM)
        unit, program = self.directory / "program.o", self.directory / "program"
        self.ok(harness.run([self.compiler(), "-c", source, "-o", unit]))
        self.ok(harness.run([self.compiler(), unit, "-o", program]))
        self.live(2, [program])
        self.assertEqual(harness_live.said(self.result), ["sum 1"])

    def test_what_it_would_do(self):
        for word in ("-show", "--show", "--showme"):
            shown = self.ok(harness.run([self.compiler(), word, "a.c"])).out.split()
            self.assertEqual(shown[0], "cc")
            self.assertIn("-lmpi_abi", shown)
            self.assertIn("a.c", shown)
        self.assertNotIn("-lmpi_abi", self.ok(harness.run([self.compiler(), "-show", "-c", "a.c"])).out)

    def test_another_compiler(self):
        shown = self.ok(harness.run([self.compiler(), "-show", "a.c"], env={"FORETRACE_CC": "clang -O1"})).out
        self.assertTrue(shown.startswith("clang -O1 "), shown)
        shown = self.ok(harness.run([self.compiler("foretrace-c++"), "-show"],
                                    env={"FORETRACE_CXX": "clang++"})).out
        self.assertTrue(shown.startswith("clang++ "), shown)

    def test_wrong_use(self):
        result = self.ok(harness.run([self.compiler()]), 2)
        self.assertEqual(result.err, "usage: foretrace-cc [-show] ARGUMENTS OF THE COMPILER\n")

    def test_cplusplus_by_the_c_compiler(self):
        source = self.write("program.cpp", SUM)
        result = self.ok(harness.run([self.compiler(), source, "-o", self.directory / "program"]), 2)
        self.assertEqual(result.err,
                         f"foretrace-cc: {source} is C++, which the C compiler does not link; use foretrace-c++\n")
        for words in (["-c"], ["-lstdc++"]):
            self.assertIn("program.cpp", self.ok(harness.run([self.compiler(), "-show", source, *words])).out)
        self.ok(harness.run([self.compiler(), "-show", source], env={"FORETRACE_CC": "g++"}))

    def test_moved_elsewhere(self):
        """The compilers find what they need beside themselves, also by a link and under odd names."""
        prefix = self.directory / "a prefix"
        standard = "lib/foretrace/live/standard"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "include").mkdir()
        shutil.copy(self.compiler(), prefix / "bin")
        shutil.copytree(harness.build / standard, prefix / standard, symlinks=True)
        shutil.copy(harness.SOURCE / "include" / "foretrace.h", prefix / "include")
        link = self.directory / "foretrace-cc"
        link.symlink_to(prefix / "bin" / "foretrace-cc")
        source = self.write("program.c", "#include <foretrace.h>\n" + SUM)
        program = self.directory / "program"
        self.ok(harness.run([link, source, "-o", program]))
        self.assertIn(f"{prefix}/{standard}", self.needed(program)[1][0][1])
        self.live(3, [program])
        self.assertEqual(harness_live.said(self.result), ["sum 3"])

    def test_outside_the_simulator_it_says_what_to_do(self):
        result = self.ok(harness.run([self.compile()]), 3)
        self.assertEqual(result.out, "")
        self.assertIn("foretrace simulate -n RANKS", result.err)

    def test_record_and_predict_refuse(self):
        program = self.compile()
        for words in (["record"], ["predict", "--machine", harness.T3D]):
            result = self.foretrace(*words, "-n", 2, "-o", self.directory / "x.ftr", "--", program, status=2)
            self.assertIn("standard ABI", result.err)
            self.assertEqual(result.err.count("\n"), 1, result.err)

    def test_measure_refuses(self):
        result = self.foretrace("measure", "-n", 2, "--mpi", "standard", "-o", self.directory / "m.toml", status=2)
        self.assertIn("use --mpi openmpi or mpich", result.err)

    def test_the_abi_can_be_named(self):
        """Where the program's libraries do not tell: a script."""
        script = self.write("start.sh", f"#!/bin/sh\nexec {self.compile()}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        self.live(4, [script], options=["--mpi", "standard"])
        self.assertEqual(harness_live.said(self.result), ["sum 6"])
        result = self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--mpi", "lam", "--", script,
                                status=2)
        self.assertIn("openmpi, mpich or, for live runs, standard", result.err)

    def test_call_sites_are_the_programs(self):
        program = self.compile("""
            #include <mpi.h>
            int main(void) {
              int value;
              MPI_Init(0, 0);
              MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
              MPI_Finalize();
            }""", options=["-g"])
        self.live(1, [program], status=1)
        self.assertIn("program.c:6", self.result.err)

    def test_programs_of_the_papers(self):
        """The same output and the same times as compiled for the other MPIs."""
        others = [mpi for mpi in ("openmpi", "mpich") if harness.paper_program("life", mpi).exists()]
        for name, source in PAPERS.items():
            program = self.directory / name
            self.ok(harness.run([self.compiler("foretrace-c++"), "-std=c++20", "-O2",
                                 f"-I{harness.SOURCE / 'include'}", f"-I{harness.SOURCE / 'programs'}",
                                 harness.SOURCE / "programs" / source, "-o", program], limit=120))
            for ranks in (4, 7):
                with self.subTest(name=name, ranks=ranks):
                    arguments = ARGUMENTS.get(name, [])
                    own = self.live(ranks, [program, *arguments], name="standard.ftr")
                    lines = harness_live.said(self.result)
                    self.assertTrue(any("digest=" in line for line in lines), lines)
                    for mpi in others:
                        other = self.live(ranks, [harness.paper_program(name, mpi), *arguments], name=f"{mpi}.ftr")
                        self.assertEqual(lines, harness_live.said(self.result))
                        self.assert_same_ticks(own, other)


os.environ.pop("FORETRACE_CC", None)
os.environ.pop("FORETRACE_CXX", None)

if __name__ == "__main__":
    harness.main()
