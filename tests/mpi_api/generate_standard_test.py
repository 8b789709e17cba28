"""generate_standard_test.py MPI_API_DIRECTORY CXX: the header of MPI's standard ABI from a table."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

API = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2]

FRAME = "#include <stdint.h>\ntypedef intptr_t MPI_Aint;\ntypedef int64_t MPI_Count;\n@FUNCTIONS@\nint end;\n"


def generate(table, frame=FRAME):
    """(status, standard error, header)"""
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "frame").write_text(frame)
        (folder / "table").write_text(table)
        result = subprocess.run([sys.executable, API / "generate_standard.py", "--frame", folder / "frame",
                                 "--functions", folder / "table", "--output", folder / "made" / "mpi.h"],
                                capture_output=True, text=True)
        made = folder / "made" / "mpi.h"
        return result.returncode, result.stderr, made.read_text() if made.exists() else None


class Generator(unittest.TestCase):
    def declarations(self, table):
        status, errors, header = generate(table)
        self.assertEqual((status, errors), (0, ""))
        return [line for line in header.splitlines() if "MPI_X" in line]

    def test_each_function_and_its_profiling_name(self):
        self.assertEqual(self.declarations("int MPI_X(void)\n"), ["int MPI_X(void);", "int PMPI_X(void);"])

    def test_large_counts_make_a_second_form(self):
        self.assertEqual(self.declarations("int MPI_X(COUNT n, const DISPLACEMENT at[], EXTENT *size, int m)"),
                         ["int MPI_X(int n, const int at[], MPI_Aint *size, int m);",
                          "int MPI_X_c(MPI_Count n, const MPI_Aint at[], MPI_Count *size, int m);",
                          "int PMPI_X(int n, const int at[], MPI_Aint *size, int m);",
                          "int PMPI_X_c(MPI_Count n, const MPI_Aint at[], MPI_Count *size, int m);"])

    def test_comments_and_empty_lines_are_nothing(self):
        self.assertEqual(self.declarations("# one\n\nMPI_Aint MPI_X(int n)  # COUNT\n"),
                         ["MPI_Aint MPI_X(int n);", "MPI_Aint PMPI_X(int n);"])

    def test_other_words_stay(self):
        self.assertEqual(self.declarations("int MPI_X(int COUNTS)")[0], "int MPI_X(int COUNTS);")

    def test_bad_lines_are_named(self):
        for line in ("int MPI_X(int n", "MPI_X(int n)", "int X(int n)", "int MPI_X()", "int MPI_X(int n);"):
            status, errors, header = generate(f"# head\n{line}\n")
            self.assertEqual((status, header), (1, None), line)
            self.assertRegex(errors, r"table:2: expected TYPE MPI_NAME\(PARAMETERS\), found: ")

    def test_our_own_header_is_c_and_cplusplus(self):
        status, errors, header = generate((API / "standard" / "functions.txt").read_text(),
                                          (API / "standard" / "mpi.h.in").read_text())
        self.assertEqual((status, errors), (0, ""))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "mpi.h"
            path.write_text(header)
            for language, standard in (("c", "c99"), ("c", "c17"), ("c++", "c++98"), ("c++", "c++20")):
                result = subprocess.run([COMPILER, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror",
                                         "-fsyntax-only", path], capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), standard)

    def test_functions_are_in_order(self):
        names = [line.partition("MPI_")[2] if not line.startswith("MPI_") else line.split(" ")[1][4:]
                 for line in (API / "standard" / "functions.txt").read_text().splitlines()
                 if line and not line.startswith("#")]
        names = [name.partition("(")[0] for name in names]
        self.assertEqual(names, sorted(set(names)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
