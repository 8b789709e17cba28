"""Where a live program makes its calls: as in its recording, from C and Fortran, and in messages."""

import re
import shutil
import unittest

import harness_live
from harness_live import harness
from places_test import PROGRAMS, Places, place

FORTRAN = harness.mpi in ("openmpi", "mpich") and shutil.which("gfortran") and shutil.which(f"mpifort.{harness.mpi}")

# What a Fortran library does for such calls: handles of C are asked for again and again.
WAITS = """\
      program waits
      include 'mpif.h'
      integer ierror, me, other, value, world
      call mpi_init(ierror)
      call mpi_comm_rank(mpi_comm_world, me, ierror)
      call mpi_comm_dup(mpi_comm_world, world, ierror)
      other = 1 - me
      call mpi_recv(value, 1, mpi_integer, other, 3, world,
     &              mpi_status_ignore, ierror)
      call mpi_finalize(ierror)
      end
"""

CONVERTS = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Status status = {0};
  MPI_Fint fortran[16];
  MPI_Status_c2f(&status, fortran);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class CallSites(harness_live.TestCase, Places):
    def both(self, program, ranks=2):
        """Function and place of each event of each rank, live and recorded."""
        live = self.places(self.live(ranks, [program]))
        recorded = self.places(self.record(ranks, [program]))
        # A recording begins when MPI_Init is over.
        for rank in live:
            self.assertIsNotNone(rank[0][1])
            rank[0] = recorded[0][0]
        return live, recorded

    def test_c(self):
        live, recorded = self.both(Places.compile(self))
        without_polls = [[[event for event in rank if event[0] != "MPI_Iprobe"] for rank in run]
                         for run in (live, recorded)]
        self.assertEqual(*without_polls)
        polls = {where for rank in live for name, where in rank if name == "MPI_Iprobe"}
        self.assertIn(place("here"), polls)
        self.assertEqual(self.run_twice(), 1)

    def run_twice(self):
        """How many different traces two runs make."""
        program = self.directory / "places"
        return len({self.live(2, [program], name=f"{i}.ftr").read_bytes() for i in range(2)})

    def test_report(self):
        trace = self.live(2, [Places.compile(self)])
        calls = {(site["function"], site["place"]): site["calls"] for site in self.report(trace)["sites"]}
        self.assertEqual(calls["MPI_Allreduce", place("allreduce")], 6)

    @unittest.skipUnless(FORTRAN, "no gfortran")
    def test_fortran(self):
        """The program's lines; what its MPI's library does for itself is no event."""
        for name in ("ten_calls.f", "ten_calls.f90", "ten_calls.f08.f90"):
            with self.subTest(name=name):
                program = Places.compile(self, source=PROGRAMS / name, compiler="mpifort")
                live, recorded = self.both(program)
                self.assertEqual(live, recorded)

    @unittest.skipUnless(FORTRAN, "no gfortran")
    def test_fortran_deadlock(self):
        source = self.write("waits.f", WAITS)
        program = Places.compile(self, source=source, compiler="mpifort")
        result = self.ok(harness.run(self.live_command(2, [program]), limit=100), 1)
        for rank in (0, 1):
            # After Init, Comm_rank, Comm_dup.
            self.assertRegex(result.err, rf"rank {rank} in event 4, MPI_Recv from rank {1 - rank}, tag 3, "
                                         r"4 bytes at waits\.f:[89]: waits")

    @unittest.skipUnless(FORTRAN, "no gfortran")
    def test_fortran_leak(self):
        source = self.write("waits.f", re.sub(r"(?s)      call mpi_recv.*?ierror\)\n", "", WAITS))
        self.live(2, [Places.compile(self, source=source, compiler="mpifort")])
        self.assertRegex(self.result.err, r"1 communicator was not freed on 2 ranks, the first made at waits\.f:6")

    def test_conversions_of_the_program_are_calls(self):
        live = self.places(self.live(1, [harness_live.TestCase.compile(self, CONVERTS)]))
        self.assertIn(("MPI_Status_c2f", "program.c:7"), live[0])


if __name__ == "__main__":
    harness.main()
