"""Fortran programs, in all three ways to use MPI from it: every call in the trace, exactly once, with
the same partners, sizes, and predicted times as the same program's in C."""

import re
import shutil
import statistics
import unittest

import harness

PROGRAMS = harness.SOURCE / "tests/e2e/programs"
WAYS = {"mpif.h": "ten_calls.f", "mpi": "ten_calls.f90", "mpi_f08": "ten_calls.f08.f90"}

# The calls of a rank of ten_calls; rank 1 receives before it sends.
TEN_CALLS = ["MPI_Init", "MPI_Comm_rank", "MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Isend", "MPI_Waitall",
             "MPI_Allreduce", "MPI_Bcast", "MPI_Finalize"]

# Those of rank 0 of ten_calls_forms, in order. Not among them: what the MPI's Fortran library
# calls for itself (MPI_Comm_size for MPI_Alltoallw, a datatype for a section of an array).
FORMS = """Init_thread Comm_rank Irecv Irecv Irecv Irecv Barrier Ssend Waitsome Barrier Isend Isend Isend
    Wait Wait Wait Wait Waitall Test Recv_init Start Send Wait Start Send Wait Request_free Sendrecv
    Sendrecv_replace Bcast
    Allgather Alltoallw Op_create Allreduce Op_free Comm_split Comm_dup Bcast Comm_free Comm_free Cart_create
    Cart_rank Comm_free Wtime Wtime Iprobe Finalize""".split()


def compiler(way):
    return f"mpicc.{harness.mpi}" if way == "c" else f"mpifort.{harness.mpi}"


@unittest.skipUnless(shutil.which("gfortran") and shutil.which(compiler("fortran")),
                     f"no gfortran or no {compiler('fortran')}: Fortran programs are not tested")
class Fortran(harness.TestCase):
    def compile(self, source, way, *options):
        program = self.directory / f"{source}-{way}"
        # In that directory: compilers leave module files where they are started.
        self.ok(harness.run([compiler(way), *options, PROGRAMS / source, "-o", program], cwd=self.directory))
        return program

    def names(self, rank):
        """Local calls in a row under one name are one event with a count."""
        return [name for _, name, fields in rank for _ in range(fields.get("count", 1))]

    def test_ten_calls(self):
        twin = self.compile("ten_calls.c", "c")
        in_c = self.predict(2, [twin], compute="none", name="c.ftr")
        for way, source in WAYS.items():
            with self.subTest(way=way):
                program = self.compile(source, way)
                said = self.ok(harness.plain(2, [program])).out
                self.assertEqual(said, "ten_calls: all checks passed\n")
                recorded = self.record(2, [program])
                self.assertEqual(self.result.out, said)
                for rank in self.events(recorded):
                    self.assertEqual(sorted(self.names(rank)), sorted(TEN_CALLS))
                predicted = self.predict(2, [program], compute="none")
                self.assertEqual(self.result.out, said)
                self.assertEqual(self.ticks(predicted), self.ticks(in_c))
                self.assert_same_ticks(predicted, self.simulate(recorded, compute="none"))

    def test_first_calls_are_no_computation(self):
        """Whether a place in the Fortran library calls for the program is found out once for each, which takes 40
        to 100 us. The program itself computes for some microseconds between two calls."""
        program = self.compile("ten_calls.f", "mpif.h")

        def usual():
            ranks = self.events(self.record(2, [program]))
            return statistics.median(fields["compute"] for rank in ranks for _, _, fields in rank[1:-1]) * 1e-6

        self.assertLess(min(usual() for _ in range(3)), 25)  # us

    def test_stays_out_without_a_mode(self):
        """Linked in, but not asked to do anything."""
        library = harness.build / "lib" / "foretrace" / f"libforetrace-{harness.mpi}.so"
        for way, source in WAYS.items():
            with self.subTest(way=way):
                result = harness.plain(2, ["env", f"LD_PRELOAD={library}", self.compile(source, way)])
                self.assertEqual(self.ok(result).out, "ten_calls: all checks passed\n")

    def test_all_symbols_bound_at_start(self):
        """The tables of addresses that are written to are read-only by then."""
        for way, source in WAYS.items():
            with self.subTest(way=way):
                program = self.compile(source, way, "-Wl,-z,now", "-Wl,-z,relro")
                recorded = self.record(2, [program], env={"LD_BIND_NOW": "1"})
                self.assertEqual(self.result.out, "ten_calls: all checks passed\n")
                self.assertEqual(sorted(self.names(self.events(recorded)[0])), sorted(TEN_CALLS))

    def test_forms(self):
        traces = []
        for options in ((), ("-DF08",)):
            with self.subTest(options=options):
                program = self.compile("ten_calls_forms.F90", f"forms{len(options)}", *options)
                said = self.ok(harness.plain(2, [program])).out
                self.assertEqual(said, "forms: all checks passed\n")
                recorded = self.record(2, [program])
                self.assertEqual(self.result.out, said)
                events = self.events(recorded)[0]
                self.assertEqual([name.removeprefix("MPI_") for name in self.names(events)], FORMS)
                # After four receives three sends of four bytes, waited for from the last to the first:
                # told apart although the MPI gives them one handle.
                done = [fields["done"] for _, name, fields in events if name == "MPI_Wait"]
                self.assertEqual([each.split(":")[0] for each in done[:3]], ["7", "6", "5"])
                traces.append(self.predict(2, [program], compute="none", name=f"forms{len(options)}.ftr"))
                self.assertEqual(self.result.out, said)
                self.assert_same_ticks(traces[-1], self.simulate(recorded, compute="none"))
        if len(traces) == 2:
            self.assert_same_ticks(*traces)

    def test_synchronous_sends_are_noticed(self):
        """Then predict answers for messages of any size: two ranks that Ssend to each other hang
        on every machine, and are told so."""
        source = self.write("both.f90", re.sub(r"^ +", "", """\
            program both
            use mpi
            integer :: rank, ierr, number
            call MPI_Init(ierr)
            call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
            call MPI_Ssend(rank, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierr)
            call MPI_Recv(number, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            call MPI_Finalize(ierr)
            end program
            """, flags=re.M))
        program = self.directory / "both"
        self.ok(harness.run([compiler("mpi"), source, "-o", program], cwd=self.directory))
        result = harness.foretrace("predict", "-n", 2, "--machine", harness.T3D, "-o",
                                   self.directory / "both.ftr", "--", program)
        self.assertEqual(result.status, 1, str(result))
        self.assertIn("rank 0 waits in MPI_Ssend to rank 1", result.err)


if __name__ == "__main__":
    harness.main()
