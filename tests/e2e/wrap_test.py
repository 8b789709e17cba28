"""Wrapper libraries made by `foretrace wrap`: the documentation's, on real programs."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import harness

PROGRAMS = harness.SOURCE / "tests/e2e/programs"

COUNTS = """\
#include <stdio.h>
static long calls[@functions];
%wrap all
  ++calls[@index];
  %call
%end
%finalize
%for f in wrapped
  if (calls[@index]) printf("%d @f %ld\\n", @rank, calls[@index]);
%end
%end
"""


def examples():
    """The templates of docs/wrap.md by name."""
    text = (harness.SOURCE / "docs" / "wrap.md").read_text()
    return dict(re.findall(r"<!-- file: (\S+) -->\n```c\n(.*?)```", text, re.S))


class WrapCase(harness.TestCase):
    def wrap(self, name, text, *options, output=None, **rest):
        template = self.write(name, text)
        library = self.directory / (output or f"lib{template.stem}.so")
        self.result = self.foretrace("wrap", template, "-o", library, "--mpi", harness.mpi, *options, limit=120,
                                     **rest)
        return library

    def preload(self, library, ranks, command, env=None, status=0):
        """The program under the library; its ranks run in the test's directory."""
        variables = {"LD_PRELOAD": library, **(env or {})}
        launcher = harness.launcher(ranks)
        for name, value in variables.items():
            launcher += ["-x", f"{name}={value}"] if harness.mpi == "openmpi" else ["-env", name, value]
        result = harness.run([*launcher, *command], cwd=self.directory)
        if status is not None:
            self.ok(result, status)
        return result

    def counts(self, text):
        """{rank: {function: calls}} of what COUNTS prints."""
        ranks = {}
        for rank, name, calls in re.findall(r"^(\d+) (MPI_\w+) (\d+)$", text, re.M):
            ranks.setdefault(int(rank), {})[name] = int(calls)
        return ranks

    def recorded(self, ranks, command):
        """The same from a trace."""
        trace = self.record(ranks, command)
        result = {}
        for rank, events in enumerate(self.events(trace)):
            for kind, name, fields in events:
                calls = result.setdefault(rank, {})
                calls[name] = calls.get(name, 0) + fields.get("count", 1)
        return result


class Documented(WrapCase):
    LIFE = "life: digest=b7c31fb2ae1dd576 rows=160 cols=160 iters=10 alive=5694\n"

    def test_times(self):
        library = self.wrap("times.wrap", examples()["times.wrap"])
        result = self.preload(library, 3, [harness.paper_program("life")])
        self.assertEqual(result.out, self.LIFE)
        for rank in range(3):
            rows = [line.split() for line in (self.directory / f"times.{rank}").read_text().splitlines()]
            calls = {name: int(number) for name, number, _ in rows}
            self.assertEqual(calls["MPI_Init"], 1)
            self.assertGreaterEqual(min(float(seconds) for _, _, seconds in rows), 0)

    def test_sizes(self):
        """Two ranks: 0, 100, 12, 100 (Sendrecv_replace) and 4,000 bytes each; the one to nobody does not count."""
        library = self.wrap("sizes.wrap", examples()["sizes.wrap"])
        result = self.preload(library, 2, [harness.test_program("ring_of_sizes")])
        self.assertEqual(sorted(result.out.splitlines()),
                         ["messages below 1 bytes: 2", "messages below 128 bytes: 4",
                          "messages below 16 bytes: 2", "messages below 4096 bytes: 2"])

    def test_slow(self):
        library = self.wrap("slow.wrap", examples()["slow.wrap"])
        self.assertEqual(self.preload(library, 3, [harness.paper_program("life")]).out, self.LIFE)
        result = self.preload(library, 2, [harness.test_program("ring_of_sizes")], {"FAIL_AFTER": "1"}, None)
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, r"rank \d: MPI_Send to \d fails")


class Calls(WrapCase):
    @classmethod
    def setUpClass(cls):
        """The library that counts, which takes long to compile: one for all."""
        folder = tempfile.TemporaryDirectory(prefix="foretrace-e2e-")
        cls.addClassCleanup(folder.cleanup)
        template, cls.library = pathlib.Path(folder.name) / "counts.wrap", pathlib.Path(folder.name) / "libcounts.so"
        template.write_text(COUNTS)
        result = harness.foretrace("wrap", template, "-o", cls.library, "--mpi", harness.mpi, limit=120)
        if result.status != 0:
            raise AssertionError(str(result))

    def check(self, command, ranks=2):
        """The library counts what a trace holds."""
        mine = self.counts(self.preload(self.library, ranks, command).out)
        trace = self.recorded(ranks, command)
        self.assertEqual(len(mine), ranks)
        self.assertEqual(mine, trace)

    def compile(self, compiler, source):
        program = self.directory / source
        self.ok(harness.run([f"{compiler}.{harness.mpi}", PROGRAMS / source, "-o", program], cwd=self.directory))
        return program

    def test_c(self):
        self.check([self.compile("mpicc", "ten_calls.c")])

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran: Fortran programs are not tested")
    def test_fortran(self):
        for source in ("ten_calls.f", "ten_calls.f90", "ten_calls.f08.f90"):
            with self.subTest(source):
                self.check([self.compile("mpifort", source)])

    def test_linked(self):
        """A program that is linked with the library needs no LD_PRELOAD."""
        source = self.write("app.c", "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v);"
                                     " MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n")
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", self.directory / "app",
                             f"-L{self.library.parent}", "-lcounts", f"-Wl,-rpath,{self.library.parent}"]))
        result = self.ok(harness.plain(2, [self.directory / "app"]))
        self.assertEqual(self.counts(result.out)[1], {"MPI_Init": 1, "MPI_Barrier": 1, "MPI_Finalize": 1})


class Sources(WrapCase):
    def test_every_function_compiles(self):
        """With all arguments named, in C and in C++, without a warning."""
        body = ("%wrap all + conversions\n  const char *mine = \"@function\";\n  (void)mine;\n"
                "%if has @bytes\n  volatile long long bytes = @bytes;\n  (void)bytes;\n%end\n  %call\n"
                "  (void)@result;\n%end\n")
        for language, output in (("c", "all.c"), ("c++", "all.cpp")):
            source = self.wrap(f"{output}.wrap", f"%language {language}\n{body}", output=output)
            compiler = f"mpicc.{harness.mpi}" if language == "c" else f"mpicxx.{harness.mpi}"
            result = self.ok(harness.run([compiler, "-Wall", "-Wextra", "-Wno-deprecated-declarations", "-fPIC",
                                          "-Werror", "-shared", "-Wl,--no-undefined", source, "-o", self.directory / "all.so"], limit=120))
            self.assertEqual(result.err, "")

    def test_same_template_same_bytes(self):
        first = self.wrap("counts.wrap", COUNTS, output="a.c").read_bytes()
        self.assertEqual(self.wrap("counts.wrap", COUNTS, output="a.c").read_bytes(), first)

    def test_cpp_library(self):
        library = self.wrap("names.wrap", "%language c++\n#include <cstdio>\n#include <string>\n"
                            "static std::string seen;\n%wrap collectives\n  seen += \"@function \";\n  %call\n%end\n"
                            "%finalize\nif (@rank == 1) std::puts(seen.c_str());\n%end\n")
        result = self.preload(library, 2, [harness.test_program("misbehave"), "none"])
        self.assertEqual(result.out, "MPI_Barrier \n")

    def test_nested_wraps_and_replaced_functions(self):
        library = self.wrap("nest.wrap", "#include <stdio.h>\n%wrap MPI_Barrier\nif (!@rank) printf(\"a\");\n%call\n"
                            "if (!@rank) printf(\"d%d\\n\", @result == MPI_ERR_OTHER);\n@result = MPI_SUCCESS;\n%end\n"
                            "%wrap collectives\nif (!@rank) printf(\"b\");\n@result = MPI_ERR_OTHER;\n%end\n")
        result = self.preload(library, 2, [harness.test_program("misbehave"), "none"])
        self.assertEqual(result.out, "abd1\n")


class WrongUse(WrapCase):
    def refused(self, text, status=1, options=(), name="t.wrap"):
        template = self.write(name, text)
        result = self.foretrace("wrap", template, "--mpi", harness.mpi, *options, status=status, cwd=self.directory)
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), [name])
        return result.err

    def test_template(self):
        self.assertRegex(self.refused("a\n%wrap snds\n%end\n"),
                         r"^foretrace: \S*/t\.wrap:2: no group of functions is called 'snds'")

    def test_a_template_that_does_nothing(self):
        for text in ("", "%% only a comment\n", "static int a;\n", "%init\n%end\n"):
            self.assertRegex(self.refused(text), r"^foretrace: \S*/t\.wrap: expected a section, found none; name functions "
                             r"in %wrap FUNCTIONS, with the code around their %call, up to %end")
        self.wrap("t.wrap", "%finalize\nint done = 1; (void)done;\n%end\n")

    def test_code(self):
        """The compiler names the template's line."""
        err = self.refused("\n%wrap MPI_Barrier\n  no_such_name = 1;\n  %call\n%end\n")
        self.assertRegex(err, r"t\.wrap:3:\d+: error: ")
        self.assertIn("foretrace: the compiler refused the library; libt.so was not written\n", err)
        err = self.refused("%wrap sends\n  no_such_name = 1;\n  %call\n%end\n")
        self.assertEqual(err.count(": error: "), 1, err)
        self.assertRegex(err, r"  the same in \d+ more functions\n")

    def test_options(self):
        self.assertIn("name a library (.so), or a source file (.c, .cpp)", self.refused("", 2, ["-o", "x.o"]))
        self.assertIn("the template is C; use .c", self.refused("", 2, ["-o", "x.cpp"]))
        self.assertIn("there is no folder ", self.refused("", 2, ["-o", "no/such/x.c"]))
        self.assertIn("cannot run no-such-compiler", self.refused("%init\na;\n%end\n", 2, ["--compiler", "no-such-compiler"]))
        self.foretrace("wrap", status=2)
        missing = self.foretrace("wrap", self.directory / "missing.wrap", status=1)
        self.assertIn("cannot read the template: No such file or directory", missing.err)
        self.assertIn("cannot read the template", self.foretrace("wrap", self.directory, status=1).err)
        self.assertIn("wrappers are made for an MPI that a program runs on",
                      self.foretrace("wrap", "x", "--mpi", "standard", status=2).err)
        self.assertIn("unknown MPI 'lam'", self.foretrace("wrap", "x", "--mpi", "lam", status=2).err)

    def test_an_older_library_stays(self):
        library = self.wrap("t.wrap", "%wrap MPI_Barrier\n%call\n%end\n")
        before = library.read_bytes()
        self.wrap("t.wrap", "%wrap MPI_Barrier\n%call\n", status=1)
        self.assertEqual(library.read_bytes(), before)
        self.assertTrue(os.access(library, os.R_OK))


if __name__ == "__main__":
    harness.main()
