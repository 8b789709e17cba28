"""The programs of tests/live/GROUP, on Foretrace's own MPI library.

    live_test.py --mpi openmpi|mpich|standard --build BUILD --group GROUP
                 [--real | --under record|predict | --compare] [--few] [unittest arguments]

Each source file directly in GROUP is one program (.c, .cpp, .f, .f90, .F90) that checks itself: it
ends with status 0, or with another one and a line on standard error for what is wrong. Each is
compiled with the MPI's own compiler and run unmodified under `foretrace simulate` at several sizes.
With --real they run under the MPI itself: that is how they are known to be right. With --under
they run under the MPI itself and `foretrace record` or `predict`, which may not change anything. With --compare
those that say so below are compared with the MPI itself, and no others run. With --few
each runs at one size. `standard` is MPI's standard ABI, for which foretrace-cc compiles; what
MPICH's mpi.h has it has too, but for Fortran.

Lines in a program's comments say what differs from that:

    live: ranks 2 4 64       the sizes (else 1 2 3 4 7 8)
    live: mpi mpich          with that MPI alone (what the other's mpi.h does not have); mpich means
                             the standard ABI as well
    live: not standard       not with the standard ABI
    live: not real mpich     not under that MPI itself, which cannot do it
    live: not under predict  not with that way of --under
    live: flags -pthread     for the compiler
    live: options --spawn 4  of simulate
    live: arguments A "B C"  for the program; given twice, it is run with each
    live: status 3           how it has to end
    live: says TEXT          part of its standard error
    live: compare            standard output is the real MPI's, lines in any order (with --compare;
                             the standard ABI's: what the program says with MPICH's)
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import harness  # noqa: E402

COMPILERS = {".c": "mpicc", ".cpp": "mpicxx", ".f": "mpifort", ".f90": "mpifort", ".F90": "mpifort"}
COMPARED_UP_TO = 4  # ranks: starting the real MPIs takes time
group, real, few, under, compare = "p2p", False, False, None, False


class Program:
    def __init__(self, source):
        self.source = source
        self.name = source.name.replace(".", "_")
        said = {}
        for line in source.read_text().splitlines()[:60]:
            match = re.search(r"live: (\w+) *(.*?) *(?:\*/)?$", line)
            if match:
                said.setdefault(match[1], []).append(match[2])
        self.ranks = [int(n) for n in said.get("ranks", ["1 2 3 4 7 8"])[0].split()]
        self.only = said.get("mpi", [None])[0]
        self.excluded = said.get("not", [])
        self.flags = said.get("flags", [""])[0].split()
        self.arguments = [shlex.split(words) for words in said.get("arguments", [""])]
        self.options = said.get("options", [""])[0].split()
        self.status = int(said.get("status", ["0"])[0])
        self.says = said.get("says", [])
        self.compare = "compare" in said

    def is_fortran(self):
        return COMPILERS[self.source.suffix] == "mpifort"

    def is_for(self, mpi):
        if mpi in self.excluded or (self.is_fortran() and (mpi == "standard" or not shutil.which("gfortran"))):
            return False
        return self.only in (None, mpi) or (self.only, mpi) == ("mpich", "standard")

    def sizes(self):
        """The first that is enough for neighbours who differ."""
        return next(([n] for n in self.ranks if n >= 3), self.ranks[:1]) if few else self.ranks

    def compiler(self, mpi):
        name = COMPILERS[self.source.suffix]
        if mpi != "standard":
            return f"{name}.{mpi}"
        return harness.build / "bin" / ("foretrace-cc" if name == "mpicc" else "foretrace-c++")

    def binary(self, mpi=None):
        return harness.build / "tests" / "live" / (mpi or harness.mpi) / group / self.name

    def compile(self, mpi=None):
        """Nothing if it is there and newer than its source."""
        mpi = mpi or harness.mpi
        target = self.binary(mpi)
        headers = [*HERE.glob("*.h"), *self.source.parent.glob("*.h")]
        if target.exists() and all(target.stat().st_mtime > path.stat().st_mtime
                                   for path in [self.source, *headers]):
            return None
        # Where compilers leave module files, and under a name that nobody runs before it is whole.
        # Of this process alone: several tests run the same programs, also at the same time.
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}.", dir=target.parent))
        command = [self.compiler(mpi), "-g", "-O0",
                   *(["-std=c++20"] if self.source.suffix == ".cpp" else []), *self.flags,
                   self.source, "-o", scratch / "program"]
        if not self.is_fortran():
            command[1:1] = ["-Wall", f"-I{HERE}", f"-I{harness.SOURCE / 'include'}"]
        result = harness.run(command, limit=60, cwd=scratch)
        if result.status == 0:
            os.replace(scratch / "program", target)
        shutil.rmtree(scratch)
        return result


class Live(harness.TestCase):
    def launch(self, program, ranks, arguments, mpi=None):
        command = [program.binary(mpi), *arguments]
        if under:
            return self.captured(ranks, command)
        if real:
            return self.plain(program, ranks, arguments)
        compute = [] if "--compute" in program.options else ["--compute", "none"]
        return harness.foretrace("simulate", "-n", ranks, "--machine", harness.T3D, *compute,
                                 *program.options, "-o", self.directory / "live.ftr", "--", *command,
                                 limit=100, cwd=self.directory)

    def captured(self, ranks, command):
        """Under the real MPI and our capture library, on a machine with rendezvous."""
        model = self.write("m.toml", harness.with_threshold(harness.T3D.read_text(), 1024))
        options = ["--machine", model, "--compute", "none"] if under == "predict" else []
        return harness.foretrace(under, "-n", ranks, *options, "-o", self.directory / "run.ftr",
                                 "--", *command, limit=60, cwd=self.directory,
                                 env={"TESTS_LIVE_REAL": harness.mpi})

    @staticmethod
    def plain(program, ranks, arguments):
        """Under the real MPI; what it is known to get wrong is left out (check.h)."""
        return harness.plain(ranks, [program.binary(), *arguments], limit=60,
                             env={"TESTS_LIVE_REAL": harness.mpi})

    def skip_if_plain_fails(self, program, ranks, arguments):
        try:
            status = self.plain(program, ranks, arguments).status
        except harness.TookTooLong:
            self.skipTest(f"{harness.mpi} itself does not end")
        if status != program.status:
            self.skipTest(f"{harness.mpi} itself ends with status {status}")

    def check(self, program, ranks, arguments):
        if program.result is not None:
            self.ok(program.result)
        try:
            result = self.launch(program, ranks, arguments)
        except harness.TookTooLong:
            if under:
                self.skip_if_plain_fails(program, ranks, arguments)
            raise
        status = program.status
        # Then the trace that was asked for is missing.
        if under and "MPI sessions alone are not followed; no trace was written" in result.err:
            status = max(status, 1)
        if under and result.status != status:
            self.skip_if_plain_fails(program, ranks, arguments)
        self.ok(result, status)
        for text in [] if under else program.says:
            self.assertIn(text, result.err)
        if program.compare and harness.mpi == "standard":
            self.compare_with_mpich(program, ranks, arguments, result)
        elif compare:
            plain = self.ok(self.plain(program, ranks, arguments), program.status)
            self.assertEqual(sorted(self.said(result)), sorted(plain.out.splitlines()))

    def compare_with_mpich(self, program, ranks, arguments, result):
        if not shutil.which("mpicc.mpich"):
            return
        compiled = program.compile("mpich")
        if compiled is not None:
            self.ok(compiled)
        other = self.ok(self.launch(program, ranks, arguments, "mpich"), program.status)
        # MPICH's extensions are not the standard's.
        expected = [line for line in self.said(other) if "MPIX_" not in line]
        self.assertEqual(sorted(self.said(result)), sorted(expected))

    @staticmethod
    def said(result):
        """The program's lines of standard output."""
        return [line for line in result.out.splitlines()
                if not re.match(r"(predicted|serial) time ", line)]


def captured_at(sizes):
    """Those that run under record and predict: the largest up to 4; all up to 4 with
    FORETRACE_TEST_ALL=1."""
    few = [ranks for ranks in sizes if ranks <= 4]
    return few if os.environ.get("FORETRACE_TEST_ALL") else few[-1:]


def add_tests():
    programs = [Program(source) for source in sorted((HERE / group).iterdir())
                if source.suffix in COMPILERS]
    programs = [program for program in programs if program.is_for(harness.mpi) and not
                ((real or under) and f"real {harness.mpi}" in program.excluded) and not
                (under and f"under {under}" in program.excluded) and not
                (compare and not program.compare)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for program, result in zip(programs, pool.map(Program.compile, programs)):
            program.result = result
    for program in programs:
        for which, arguments in enumerate(program.arguments):
            for ranks in program.sizes():
                if (real and ranks > 8) or (compare and ranks > COMPARED_UP_TO):
                    continue
                if under and ranks not in captured_at(program.ranks):
                    continue

                def test(self, program=program, ranks=ranks, arguments=arguments):
                    self.check(program, ranks, arguments)

                label = f"_{which}" if len(program.arguments) > 1 else ""
                setattr(Live, f"test_{program.name}{label}_{ranks:02}", test)


def main():
    global group, real, few, under, compare
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--mpi", default=harness.mpi)
    parser.add_argument("--build", default=harness.build, type=pathlib.Path)
    parser.add_argument("--group", default=group)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--under", choices=["record", "predict"])
    options, rest = parser.parse_known_args()
    harness.mpi, harness.build = options.mpi, options.build.resolve()
    group, real, few, under = options.group, options.real, options.few, options.under
    compare = options.compare
    add_tests()
    sys.argv = [sys.argv[0], "--mpi", options.mpi, "--build", str(options.build), *rest]
    harness.main()


if __name__ == "__main__":
    main()
