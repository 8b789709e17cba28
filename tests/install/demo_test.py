"""What `make demo` builds, and what it says before it does.

    demo_test.py SOURCE
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

NINJA = """rule cc
  command = c++ -o $out -c $in
""" + "".join(f"build o{i}.o: cc s{i}.cpp\n" for i in range(120)) + "build all: phony " + \
    " ".join(f"o{i}.o" for i in range(120)) + "\n"


class Demo(unittest.TestCase):
    def test_our_mpi_library_is_no_part(self):
        """The demonstration runs nothing on it."""
        commands = subprocess.run(["make", "-n", "-C", SOURCE, "demo"], capture_output=True, text=True, timeout=60).stdout
        self.assertIn("-DFORETRACE_LIVE_WITH_TOOL=OFF", commands)
        self.assertIn("--announce", commands)

    def test_tests_are_built_again_afterwards(self):
        """The demonstration is built without them, which stays in the build's settings."""
        for target in ("quick", "check", "check-all"):
            commands = subprocess.run(["make", "-n", "-C", SOURCE, target], capture_output=True, text=True,
                                      timeout=60).stdout
            self.assertRegex(commands, r"cmake --preset release .*-DFORETRACE_TESTS=ON", target)

    def test_it_says_how_long_the_build_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "build.ninja").write_text(NINJA)

            def said(*targets):
                return subprocess.run([sys.executable, SOURCE / "tools/demo", "--build", build, "--announce", "2",
                                       *targets], capture_output=True, text=True, timeout=60, check=True).stdout

            self.assertRegex(said("all"), r"^demo: builds first: 120 files to compile, about 2 minutes on 2 processors")
            for i in range(40):
                (build / f"o{i}.o").touch()
            self.assertIn("80 files to compile", said("all"))
            self.assertEqual(said("o100.o"), "")

    def test_it_tells_of_runs_that_differ(self):
        """An error within what the runs themselves differ by says nothing."""
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("demo", str(SOURCE / "tools/demo"))
        sys.path.insert(0, str(SOURCE / "tools"))
        demo = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo", loader))
        loader.exec_module(demo)

        def row(program, least, most, quiet=True):
            times = {"median": 0.05, "least": least, "most": most, "quiet": quiet}
            predicted = {"median": 0.04, "ratio": 0.8}
            return {"program": program, "mpi": "mpich", "measured": times, "predict": predicted, "simulate": predicted}

        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            demo.print_tables([row("elastic", 0.045, 0.0665), row("life", 0.048, 0.053), row("mandel", 0.03, 0.09, False)],
                              [])
        self.assertIn("Measured runs differ among themselves: elastic (MPICH) by 43 %.\n", said.getvalue())


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
