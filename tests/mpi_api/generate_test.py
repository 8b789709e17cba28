#!/usr/bin/env python3
"""generate_test.py GENERATE_PY CXX: the generator on headers made for the test.

The wrappers that come out are compiled against the header they came from, with
stand-ins for src/capture; so what counts is that they are correct C++, not how
they are laid out.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GENERATE, CXX = sys.argv[1:3]

# Every form that a prototype may take; each MPI_X has a PMPI_X made from it.
PROTOTYPES = {
    "plain": "int MPI_Plain(int a, double b);",
    "nothing": "int MPI_Nothing(void);",
    "result": "double MPI_Result(void);",
    "pointer result": "const char *MPI_Pointer_result(int *a);",
    "pointers": "int MPI_Pointers(const void *a, char **b, int *const c, void * d, int*e);",
    "arrays": "int MPI_Arrays(int a[], const int b[3], int c[][3], char *d[], int e [ 2 ] [4]);",
    "function pointer": "int MPI_Function_pointer(void (*f)(void *, int *, int), int (*g)(int));",
    "function type": "int MPI_Function_type(MPI_Callback *f, MPI_Callback g);",
    "unnamed": "int MPI_Unnamed(MPI_Comm, const void *, int *);",
    "unnamed builtin": "int MPI_Unnamed_builtin(int, unsigned int, long long, const int, unsigned, struct thing *);",
    "unnamed array": "int MPI_Unnamed_array(int [], const int [3]);",
    "some unnamed": "int MPI_Some_unnamed(int a, MPI_Comm, int);",
    "varargs": "int MPI_Varargs(const int level, ...);",
    "several lines": "int\n  MPI_Several_lines(int a,\n        int\n b,\n  int   c\n  )\n  ;",
    "extern": "extern int MPI_Extern(int a);",
    "struct": "int MPI_Struct(struct thing *a, struct thing b);",
    "unsigned": "unsigned long MPI_Unsigned(unsigned int a, unsigned b, long long int c);",
    "attribute before": '__attribute__((visibility("default"))) int MPI_Attribute_before(int a);',
    "attribute after": 'int MPI_Attribute_after(int a) __attribute__((__deprecated__("use (the) other")));',
    "attributes": "int MPI_Attributes(const char *a, int b) __attribute__((format(printf, 1, 0), cold)) __attribute__((nonnull(1)));",
    "attribute inside": "int MPI_Attribute_inside(int a, int b __attribute__((unused)));",
    "macro-like name": "int MPI_X_2y_Z(int returned, int typedefs, int externs);",
    "extension": "int MPIX_Extension(int a);",
}

PREAMBLE = """
typedef struct comm_s *MPI_Comm;
struct thing { int x; };
typedef int (MPI_Callback)(MPI_Comm, int);
typedef enum { MPI_ONE, MPI_TWO } MPI_Kind;
typedef int (MPI_Delete_function)(MPI_Comm a, int b);
typedef int MPI_Fint;
extern int MPI_global;
static inline int helper(int a) { return PMPI_Plain_not(a); }
"""

# What generated code may call, in the least form.
STAND_IN = """
#include <cstdarg>
extern "C" {
int PMPI_Plain_not(int);
#include "mpi.i"
}
#define FORETRACE_EXPORT
namespace capture {
enum class Fn {
#define FORETRACE_FUNCTION(name, klass) name,
#include "mpi_functions.inc"
#undef FORETRACE_FUNCTION
};
template <class Real> auto generic(Fn, Real real) { return real(); }
template <class A, class Real> auto wait(Fn, A, Real real) { return real(); }
extern bool profiling;
void note_call(const void* address, const void* cfa);
struct Sender {};
struct Measured {
  Measured(Fn, const void* address, const void* cfa);
  void stop();
  void on(MPI_Comm);
  template <class Status> void waited(Sender, Status);
};
template <class Request> Sender awaited(int, Request);
}
namespace capture {
struct FortranCall { const char* name; void* function; };
bool is_programs_call(const char* name, const void* return_address);
}
using capture::Fn;
#include "mpi_wrappers.inc"
#include "mpi_fortran.inc"
const void* used = kFortranCalls;
"""


def profiled(prototype):
    return re.sub(r"\b(MPIX?_\w+)\s*\(", r"P\1(", prototype, count=1)


def header(*prototypes):
    return PREAMBLE + "\n".join(f"{p}\n{profiled(p)}" for p in prototypes) + "\n"


class Generator(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def generate(self, header_text, table=""):
        (self.folder / "mpi.i").write_text(header_text)
        (self.folder / "table.txt").write_text(table)
        return subprocess.run([sys.executable, GENERATE, "--header", self.folder / "mpi.i", "--table",
                               self.folder / "table.txt", "--output", self.folder], capture_output=True, text=True)

    def functions(self):
        return re.findall(r"FORETRACE_FUNCTION\((\w+), (\w+)\)", (self.folder / "mpi_functions.inc").read_text())

    def compile(self):
        (self.folder / "all.cpp").write_text(STAND_IN)
        return subprocess.run([CXX, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                               "-Wno-deprecated-declarations", "-Wno-unused-function", self.folder / "all.cpp"],
                              capture_output=True, text=True).stderr

    def test_every_form_of_prototype(self):
        for form, prototype in PROTOTYPES.items():
            with self.subTest(form):
                self.assertEqual(self.generate(header(prototype)).stderr, "")
                name = re.search(r"\b(MPIX?_\w+)\s*\(", prototype).group(1)
                self.assertEqual(self.functions(), [(name, "generic")])
                self.assertEqual(self.compile(), "")

    def test_all_forms_at_once(self):
        self.assertEqual(self.generate(header(*PROTOTYPES.values())).returncode, 0)
        names = [name for name, _ in self.functions()]
        self.assertEqual(len(names), len(PROTOTYPES))
        self.assertEqual(names, sorted(names), "the order must not depend on the header's")

    def test_arguments_are_passed_on_in_order(self):
        self.generate(header(PROTOTYPES["plain"]))
        text = (self.folder / "mpi_wrappers.inc").read_text()
        self.assertRegex(text, r"PMPI_Plain\(a, b\)")

    def test_signatures_are_strings(self):
        """Under the table's names where it has the function, else the header's."""
        self.generate(header(PROTOTYPES["plain"]))
        self.assertEqual((self.folder / "mpi_signatures.inc").read_text(),
                         'FORETRACE_SIGNATURE("MPI_Plain", "int", "int a, double b", "a, b")\n')
        self.generate(header(PROTOTYPES["plain"]), "MPI_Plain generic : first second\n")
        self.assertEqual((self.folder / "mpi_signatures.inc").read_text(),
                         'FORETRACE_SIGNATURE("MPI_Plain", "int", "int first, double second", "first, second")\n')

    def test_fortran_calls_either_the_wrapper_or_what_it_called(self):
        self.generate(header(PROTOTYPES["plain"]))
        text = (self.folder / "mpi_fortran.inc").read_text()
        self.assertRegex(text, r'if \(capture::is_programs_call\("MPI_Plain", __builtin_return_address\(0\)\)\)\s+'
                               r"return MPI_Plain\(a, b\);\s+return PMPI_Plain\(a, b\);")
        self.assertIn('{"MPI_Plain", reinterpret_cast<void*>(fortran_MPI_Plain)}', text)

    def test_fortran_conversions_are_left_alone(self):
        """The Fortran library calls them for itself, several times in most of its functions."""
        conversions = [f"int MPI_{name}(int a);" for name in
                       ("Comm_f2c", "Comm_c2f", "Status_c2f08", "Status_f082c", "Status_f2f08", "Status_f082f")]
        self.generate(header(PROTOTYPES["plain"], "int MPI_F2c_other(int a);", *conversions))
        self.assertEqual(re.findall(r'\{"(\w+)"', (self.folder / "mpi_fortran.inc").read_text()),
                         ["MPI_F2c_other", "MPI_Plain"])
        self.assertEqual(len(self.functions()), 8)

    def test_only_what_has_a_profiled_twin(self):
        alone = "int MPI_Alone(int a);\nint PMPI_Orphan(int a);\n"
        self.assertEqual(self.generate(header(PROTOTYPES["plain"]) + alone).returncode, 0)
        self.assertEqual(self.functions(), [("MPI_Plain", "generic")])

    def test_declared_twice_is_wrapped_once(self):
        self.generate(header(PROTOTYPES["plain"], PROTOTYPES["plain"]))
        self.assertEqual(self.functions(), [("MPI_Plain", "generic")])
        self.assertEqual(self.compile(), "")

    def test_same_input_same_bytes(self):
        written = []
        for _ in range(2):
            self.generate(header(*PROTOTYPES.values()))
            written.append((self.folder / "mpi_wrappers.inc").read_bytes())
        self.assertEqual(*written)

    def test_class_comes_from_the_table(self):
        self.generate(header("int MPI_Wait(int *request);", "int MPI_Wait_c(int *request);"),
                      "MPI_Wait wait : request\n")
        self.assertEqual(self.functions(), [("MPI_Wait", "wait"), ("MPI_Wait_c", "wait")])
        self.assertEqual(self.compile(), "")

    def test_table_names_the_parameters(self):
        self.generate(header("int MPI_Wait(int *);"), "MPI_Wait wait : request # a comment\n\n# : \n")
        self.assertRegex((self.folder / "mpi_wrappers.inc").read_text(), r"PMPI_Wait\(request\)")
        self.assertEqual(self.compile(), "")

    def refused(self, table, line, says, prototypes=("int MPI_Wait(int *request, int *status);",)):
        result = self.generate(header(*prototypes), table)
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("Traceback", result.stderr)
        self.assertTrue(result.stderr.startswith(f"{self.folder / 'table.txt'}:{line}: "), result.stderr)
        self.assertIn(says, result.stderr)

    def test_wrong_number_of_parameters(self):
        self.refused("# comment\n\nMPI_Wait wait : request\n", 3, "MPI_Wait has 2 parameters in mpi.h, 1 here")
        self.refused("MPI_Wait wait : a b c\n", 1, "MPI_Wait has 2 parameters in mpi.h, 3 here")
        self.refused("MPI_Wait wait :\n", 1, "MPI_Wait has 2 parameters in mpi.h, 0 here")
        self.refused("MPI_Nothing finalize : a\n", 1, "MPI_Nothing has 0 parameters in mpi.h, 1 here",
                     (PROTOTYPES["nothing"],))

    def test_row_that_is_there_twice(self):
        self.refused("MPI_Wait wait : a b\nMPI_Test test : a b\nMPI_Wait wait : a b\n", 3, "MPI_Wait is there twice")

    def test_row_without_a_colon(self):
        self.refused("MPI_Wait wait a b\n", 1, "expected NAME CLASS [OPTION ...] : [PARAMETER ...]")

    def test_row_without_a_class(self):
        self.refused("MPI_Test test : a\nMPI_Wait : a b\n", 2, "expected NAME CLASS")

    def test_row_without_the_options_of_its_class(self):
        send = ("int MPI_Send(const void *buf, int count, int type, int dest, int tag, MPI_Comm comm);",)
        self.refused("MPI_Send send : buf count datatype dest tag comm\n", 1, "MPI_Send", send)
        self.refused("MPI_Send send standard : buf count datatype dest tag comm\n", 1, "MPI_Send", send)
        self.refused("MPI_Barrier collective barrier : comm\n", 1, "MPI_Barrier", ("int MPI_Barrier(MPI_Comm comm);",))

    def profiles(self, prototype, table, *statements, first=()):
        """The wrapper's part for mode profile holds these statements, in order; `first` before all others."""
        self.assertEqual(self.generate(header(prototype), table).stderr, "")
        text = (self.folder / "mpi_wrappers.inc").read_text()
        part = re.search(r"if \(capture::profiling\) \{\n(.*?)\n  \}\n", text, re.S).group(1)
        lines = [line.strip() for line in part.splitlines()]
        self.assertEqual(lines[:len(first)], list(first))
        lines = lines[len(first):]
        self.assertRegex(lines[0], r"capture::Measured call_\(Fn::MPI_\w+, __builtin_return_address\(0\)")
        self.assertEqual(lines[1:], list(statements))

    def test_profile_counts_messages(self):
        call = "int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);"
        self.profiles(call, "MPI_Send send standard post=MPI_Isend : buf count datatype dest tag comm\n",
                      "const auto result_ = PMPI_Send(buf, count, datatype, dest, tag, comm);", "call_.stop();",
                      "call_.sent(count, datatype, dest, comm);", "return result_;")
        call = "int MPI_Recv(void *b, int n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Status *status);"
        self.profiles(call, "MPI_Recv recv : buf count datatype source tag comm status\n",
                      "MPI_Status own_;",
                      "MPI_Status* const seen_ = status == MPI_STATUS_IGNORE ? &own_ : status;",
                      "const auto result_ = PMPI_Recv(buf, count, datatype, source, tag, comm, seen_);",
                      "call_.stop();", "call_.received(*seen_, source, comm);", "return result_;")
        call = "int MPI_File_write_at(MPI_File fh, MPI_Offset at, const void *buf, int count, MPI_Datatype datatype);"
        self.profiles(call, "", "const auto result_ = PMPI_File_write_at(fh, at, buf, count, datatype);",
                      "call_.stop();",
                      "call_.moved(trace::Direction::sent, count, datatype, MPI_COMM_NULL);", "return result_;")

    def test_profile_knows_for_whom_a_call_waits(self):
        call = "int MPI_Irecv(void *b, int n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Request *r);"
        self.profiles(call, "MPI_Irecv irecv : buf count datatype source tag comm request\n",
                      "const auto result_ = PMPI_Irecv(buf, count, datatype, source, tag, comm, request);", "call_.stop();",
                      "call_.expected(count, datatype, source, comm);",
                      "call_.posted(result_, request, source, comm);", "return result_;")
        self.profiles("int MPI_Wait(MPI_Request *r, MPI_Status *s);", "MPI_Wait wait : request status\n",
                      "MPI_Status own_;",
                      "MPI_Status* const seen_ = status == MPI_STATUS_IGNORE ? &own_ : status;",
                      "const auto result_ = PMPI_Wait(request, seen_);", "call_.stop();",
                      "call_.waited(awaited_, seen_);", "return result_;",
                      first=["const capture::Sender awaited_ = capture::awaited(1, request);"])
        # Its handle may have been a receive's.
        self.profiles("int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);", "",
                      "const auto result_ = PMPI_Ibarrier(comm, request);", "call_.stop();", "call_.on(comm);",
                      "call_.posted_other(result_, request);", "return result_;")

    def test_profile_follows_communicators(self):
        call = "int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);"
        self.profiles(call, "", "const auto result_ = PMPI_Comm_dup(comm, newcomm);", "call_.stop();",
                      "call_.on(comm);", "call_.created(result_, newcomm);", "return result_;")
        call = "int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);"
        self.profiles(call, "", "const auto result_ = PMPI_Comm_idup(comm, newcomm, request);", "call_.stop();",
                      "call_.on(comm);", "call_.posted_other(result_, request);",
                      "call_.created_like(result_, newcomm, comm);", "return result_;")
        self.profiles("int MPI_Comm_free(MPI_Comm *comm);", "", "call_.freeing_comm(comm);",
                      "const auto result_ = PMPI_Comm_free(comm);", "call_.stop();", "return result_;")

    def test_header_without_functions(self):
        result = self.generate(PREAMBLE)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(f"{self.folder / 'mpi.i'}: no MPI functions found", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
