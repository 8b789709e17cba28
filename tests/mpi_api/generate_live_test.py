#!/usr/bin/env python3
"""generate_live_test.py SRC/MPI_API CXX: the live library's frame, from a header of a few functions."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

api, compiler = pathlib.Path(), "c++"

HEADER = """
typedef int MPI_Comm; typedef int MPI_Datatype; typedef int MPI_Op; typedef long MPI_Count; typedef long MPI_Aint;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Allreduce_c(const void *in, void *out, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Allreduce_c(const void *in, void *out, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size);
int MPI_Type_indexed(int count, const int lengths[], MPI_Datatype *newtype);
int PMPI_Type_indexed(int count, const int lengths[], MPI_Datatype *newtype);
int MPI_Type_indexed_c(MPI_Count count, const MPI_Count lengths[], MPI_Datatype *newtype);
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count lengths[], MPI_Datatype *newtype);
double MPI_Wtime(void);
double PMPI_Wtime(void);
int MPIX_Extra(void);
int PMPIX_Extra(void);
int MPI_Only_in_Fortran(void);
int PMPI_Only_in_Fortran(void);
int MPI_Unprofiled(void);
"""


class Frame(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.output = pathlib.Path(cls.folder.name)
        (cls.output / "mpi.i").write_text(HEADER)
        subprocess.run([sys.executable, api / "generate_live.py", "--header", cls.output / "mpi.i",
                        "--omit", "Fortran", "--output", cls.output], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, name):
        return (self.output / name).read_text()

    def stub(self, name):
        text = self.read("live_stubs.cpp")
        start = text.index(f" {name}(")
        return text[start:text.index("\n}\n", start)]

    def test_functions_are_those_with_a_profiling_name(self):
        names = [line.split()[0] for line in self.read("live_functions.txt").splitlines()]
        self.assertEqual(names, sorted(names))
        self.assertIn("MPI_Send", names)
        self.assertNotIn("MPI_Unprofiled", names)
        self.assertNotIn("MPI_Only_in_Fortran", names)

    def test_names_are_in_the_order_of_the_enumerators(self):
        enumerators = [line.strip(" ,") for line in self.read("live_functions.inc.hpp").splitlines()
                       if line.startswith("  MPI")]
        names = [line.strip('",') for line in self.read("live_names.inc").splitlines()]
        self.assertEqual(names, enumerators)

    def test_implementations_have_their_own_names(self):
        header = self.read("live_impl.hpp")
        self.assertIn("int Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);",
                      header)
        self.assertIn("double Wtime(void);", header)
        self.assertIn("int X_Extra(void);", header)

    def test_an_entry_and_its_alias(self):
        entries = self.read("live_entries.cpp")
        self.assertIn("double PMPI_Wtime(void) {\n  Entry entry(Fn::MPI_Wtime);\n  return impl::Wtime();\n}", entries)
        self.assertIn('double MPI_Wtime(void)\n    __attribute__((weak, alias("PMPI_Wtime")));', entries)

    def test_what_nobody_implements_ends_the_run(self):
        self.assertIn('missing("MPI_Wtime")', self.stub("Wtime"))

    def test_large_counts_become_contiguous_types_except_in_reductions(self):
        self.assertIn("return Send(buf, counted_count.count, counted_count.type, dest, tag, comm);",
                      self.stub("Send_c"))
        self.assertIn('abi::narrow<int>("MPI_Allreduce_c", "count", count)', self.stub("Allreduce_c"))

    def test_results_are_widened(self):
        self.assertIn("*size = small_size;", self.stub("Pack_size_c"))

    def test_arrays_of_unknown_length_are_not_converted(self):
        self.assertIn('missing("MPI_Type_indexed_c")', self.stub("Type_indexed_c"))
        self.assertIn("MPI_Type_indexed_c Type_indexed_c\n", self.read("live_functions.txt"))
        self.assertIn("MPI_Send_c Send_c Send\n", self.read("live_functions.txt"))

    def test_the_list_of_what_is_implemented(self):
        source = self.output / "some.cpp"
        source.write_text("namespace foretrace::mpi::impl {\n"
                          "int Send(const void*, int, int, int, int, int) { return 0; }\n"
                          "__attribute__((weak)) double Wtime() { return 0; }\n}\n")
        subprocess.run([compiler, "-c", source, "-o", self.output / "some.o"], check=True)
        subprocess.run([sys.executable, api / "list_live.py", "--functions", self.output / "live_functions.txt",
                        "--output", self.output / "list.txt", self.output / "some.o"], check=True)
        lines = self.read("list.txt").splitlines()
        for line in ("MPI_Send yes", "MPI_Send_c yes", "MPI_Wtime no", "MPI_Pack_size no"):
            self.assertIn(line, lines)


if __name__ == "__main__":
    api, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
