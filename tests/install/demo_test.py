"""What `make demo` builds, and what it says before it does.

    demo_test.py SOURCE
"""

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


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
