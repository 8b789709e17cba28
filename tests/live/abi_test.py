"""The live libraries against the MPIs' own: what they export.

    abi_test.py --build BUILD [unittest arguments]

A program finds Foretrace's library in the place of its MPI's, under the same name. So it has to
export everything that programs, and that MPI's own libraries for Fortran and C++, may want of it.
Tests of an MPI that this machine does not have are skipped. Of the standard's ABI there is no real
one: what its header declares has to be there.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = pathlib.Path("/usr/lib/x86_64-linux-gnu")
NAMES = {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}
COMPANIONS = {"mpich": ["libmpichfort.so.12", "libmpichcxx.so.12"],
              "openmpi": ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
                          "libmpi_usempi_ignore_tkr.so.40", "libmpi_cxx.so.40"]}
# What leaves the library and is not the real one's: the hooks of foretrace.h, and the functions that we stand in for.
OWN = {"foretrace_get_hook_table", "foretrace_count_blocks"} | {
    line for line in (HERE.parents[1] / "src/base/stand_ins.txt").read_text().splitlines() if line[0] != "#"}
build = HERE.parents[1] / "build"


class Symbol:
    def __init__(self, line):
        words = line.split()
        self.size, self.type, self.bind, self.section = int(words[2], 0), words[3], words[4], words[6]
        self.name = re.split("@", words[7])[0]

    def is_defined(self):
        return self.section != "UND" and self.bind in ("GLOBAL", "WEAK")

    def is_data(self):
        return self.type in ("OBJECT", "TLS", "COMMON")


def symbols(library):
    """The library's dynamic symbols."""
    output = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True,
                            text=True).stdout
    return [Symbol(line) for line in output.splitlines() if re.match(r" *\d+: ", line) and len(line.split()) > 7]


def exported(library):
    return {symbol.name: symbol for symbol in symbols(library) if symbol.is_defined()}


def wanted(library):
    return {symbol.name for symbol in symbols(library) if symbol.section == "UND"}


def soname(library):
    output = subprocess.run(["readelf", "-Wd", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"Library soname: \[(.*)\]", output)[1]


class Exports:
    """Mixed into one test case for each MPI."""

    mpi = ""

    @classmethod
    def setUpClass(cls):
        cls.ours_path = build / "lib" / "foretrace" / "live" / cls.mpi / NAMES[cls.mpi]
        real_path = SYSTEM / NAMES[cls.mpi]
        if not real_path.exists() or not cls.ours_path.exists():
            raise unittest.SkipTest(f"no {cls.mpi}")
        cls.ours, cls.real = exported(cls.ours_path), exported(real_path)

    def test_the_name_is_the_real_one(self):
        self.assertEqual(soname(self.ours_path), NAMES[self.mpi])

    def test_every_mpi_function_and_its_profiling_name_are_there(self):
        names = {name for name in self.real if re.match(r"P?MPIX?_", name)}
        self.assertGreater(len(names), 700)
        self.assertEqual(sorted(names - set(self.ours)), [])

    def test_programs_may_replace_mpi_functions(self):
        # A tool's MPI_X calls PMPI_X: two symbols, and the first one is not bound inside.
        for name, symbol in self.ours.items():
            if name.startswith("PMPI_") and name[1:] in self.ours:
                self.assertEqual(self.ours[name[1:]].bind, "WEAK", name[1:])
                self.assertEqual(symbol.type, "FUNC", name)

    def test_data_is_as_large_as_the_real_one(self):
        # Programs hold copies of it, of the size that it had when they were linked.
        ours = {name: symbol.size for name, symbol in self.ours.items() if symbol.is_data()}
        real = {name: self.real[name].size for name in ours}
        self.assertEqual(ours, real)

    def test_nothing_else_leaves_the_library(self):
        self.assertEqual(sorted(set(self.ours) - set(self.real) - OWN), [])

    def test_nothing_is_left_to_other_libraries_but_the_system(self):
        # Weak ones may be missing; versions name the C library.
        missing = [symbol.name for symbol in symbols(self.ours_path)
                   if symbol.section == "UND" and symbol.bind == "GLOBAL"]
        self.assertEqual([name for name in missing if re.match(r"(P?MPIX?_|ompi_|_ZN9foretrace)", name)], [])

    def test_its_libraries_for_fortran_and_cxx_find_what_they_want(self):
        for name in COMPANIONS[self.mpi]:
            library = SYSTEM / name
            if not library.exists():
                continue
            # What the real library does not have comes from elsewhere.
            names = wanted(library) & set(self.real)
            with self.subTest(name):
                self.assertEqual(sorted(names - set(self.ours)), [])


class Mpich(Exports, unittest.TestCase):
    mpi = "mpich"

    def test_data_that_headers_and_modules_name_is_there(self):
        for name in ("MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY",
                     "MPI_F08_STATUS_IGNORE", "MPI_F08_STATUSES_IGNORE", "MPIR_F08_MPI_BOTTOM",
                     "MPIR_F08_MPI_IN_PLACE", "MPIR_C_MPI_UNWEIGHTED", "MPIR_C_MPI_WEIGHTS_EMPTY"):
            self.assertIn(name, self.ours)


class OpenMpi(Exports, unittest.TestCase):
    mpi = "openmpi"

    def test_all_predefined_handles_of_the_header_are_there(self):
        header = SYSTEM / "openmpi" / "include" / "mpi.h"
        if not header.exists():
            self.skipTest("no mpi.h")
        names = set(re.findall(r"extern struct ompi_predefined_\w+ (\w+);", header.read_text()))
        self.assertGreater(len(names), 90)
        self.assertEqual(sorted(names - set(self.ours)), [])


class Standard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = build / "lib" / "foretrace" / "live" / "standard"
        cls.path = directory / "libmpi_abi.so.0"
        cls.ours = exported(cls.path)
        header = (directory / "include" / "mpi.h").read_text()
        cls.declared = set(re.findall(r"^(?:int|double|MPI_\w+) (P?MPI_\w+)\(", header, re.M))

    def test_the_name_is_the_standards(self):
        self.assertEqual(soname(self.path), "libmpi_abi.so.0")
        self.assertEqual((self.path.parent / "libmpi_abi.so").resolve(), self.path)

    def test_it_holds_what_the_header_declares_and_nothing_else(self):
        self.assertGreater(len(self.declared), 1300)
        self.assertEqual(sorted(self.declared - set(self.ours)), [])
        self.assertEqual(sorted(set(self.ours) - self.declared - OWN), [])

    def test_programs_may_replace_mpi_functions(self):
        for name in self.declared:
            self.assertEqual(self.ours[name].type, "FUNC", name)
            self.assertEqual(self.ours[name].bind, "GLOBAL" if name.startswith("P") else "WEAK", name)

    def test_nothing_is_left_to_other_libraries_but_the_system(self):
        missing = [symbol.name for symbol in symbols(self.path)
                   if symbol.section == "UND" and symbol.bind == "GLOBAL"]
        self.assertEqual([name for name in missing if re.match(r"(P?MPIX?_|_ZN9foretrace)", name)], [])

    def test_its_functions_are_those_of_the_others(self):
        """What MPI 3.1 and 4.0 have and MPI 5.0 took out is missing, and nothing else."""
        mpich = SYSTEM / NAMES["mpich"]
        if not mpich.exists():
            self.skipTest("no mpich")
        removed = r"PMPI_(\w+_([cf]2[cf]|f082[cf]|[cf]2f08)|Address|Errhandler_(create|get|set)" \
                  r"|Type_(extent|hindexed|hvector|lb|struct|ub)|DUP_FN)$"
        names = {name for name in exported(mpich) if name.startswith("PMPI_")}
        self.assertGreater(len(names), 500)
        self.assertEqual(sorted(name for name in names - self.declared if not re.match(removed, name)), [])


def main():
    global build
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=build)
    arguments, rest = parser.parse_known_args()
    build = arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)


if __name__ == "__main__":
    main()
