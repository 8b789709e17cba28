"""What programs say of themselves: phases, marks, MPI_Pcontrol; in C and Fortran, recorded, predicted
and run live."""

import json
import re
import shutil
import unittest

import harness

INCLUDE = harness.SOURCE / "include"

ANNOTATED = r"""
#include <mpi.h>
#include "foretrace.h"
int main(int argc, char **argv) {
  int rank, size, length;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FORETRACE_PHASE_BEGIN("outer");
  FORETRACE_COMPUTE(100);
  FORETRACE_MARK_VALUE("residual", 0.5 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  FORETRACE_PHASE_BEGIN("hidden");
  FORETRACE_COMPUTE(50);
  FORETRACE_MARK("hidden");
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) MPI_Send(&size, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&size, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  FORETRACE_PHASE_END("hidden");
  FORETRACE_COMPUTE(25);
  MPI_Get_processor_name(host, &length);
  FORETRACE_COMPUTE(5);
  FORETRACE_PHASE_END("outer");
  FORETRACE_COMPUTE(10);
  MPI_Pcontrol(1);
  FORETRACE_MARK("done");
  MPI_Pcontrol(2);
  MPI_Pcontrol(99, "whatever");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

FORTRAN = r"""
program annotated
  use mpi
  use foretrace
  implicit none
  integer :: rank, ierr, number = 0, length
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call foretrace_phase_begin("outer")
  call foretrace_compute(100)
  call foretrace_mark("residual", 0.5d0 + rank)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Pcontrol(0)
  call foretrace_phase_begin("hidden")
  call foretrace_compute(50)
  call foretrace_mark("hidden")
  call MPI_Comm_size(MPI_COMM_WORLD, number, ierr)
  if (rank == 0) call MPI_Send(number, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierr)
  if (rank == 1) call MPI_Recv(number, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call foretrace_phase_end("hidden")
  call foretrace_compute(25)
  call MPI_Get_processor_name(host, length, ierr)
  call foretrace_compute(5)
  call foretrace_phase_end("outer")
  call foretrace_compute(10)
  call MPI_Pcontrol(1)
  call foretrace_mark("done")
  call MPI_Pcontrol(2)
  call MPI_Pcontrol(99)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program annotated
"""

# Kind, name, and the steps before it, on rank 0.
LOGGED = [("init", "MPI_Init", 0), ("call", "MPI_Comm_rank", 0), ("phase_begin", "outer", 0),
          ("mark", "residual", 100), ("collective", "MPI_Barrier", 0), ("call", "MPI_Pcontrol", 0),
          ("send", "MPI_Send", 50), ("phase_end", "outer", 30), ("call", "MPI_Pcontrol", 10),
          ("mark", "done", 0), ("call", "MPI_Pcontrol", 0), ("collective", "MPI_Barrier", 0),
          ("finalize", "MPI_Finalize", 0)]

FAULTY = r"""
#include <mpi.h>
#include "foretrace.h"
int main(int argc, char **argv) {
  int rank;
  FORETRACE_PHASE_BEGIN("before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FORETRACE_PHASE_BEGIN("twice");
  FORETRACE_PHASE_BEGIN("twice");
  FORETRACE_PHASE_END("twice");
  FORETRACE_PHASE_END("twice");
  if (rank > 0) {
    FORETRACE_PHASE_BEGIN("left open");
    FORETRACE_PHASE_END("never opened");
    FORETRACE_COMPUTE(100);
    FORETRACE_COMPUTE(-5);
    FORETRACE_COMPUTE(0.0 / 0.0);
  }
  MPI_Finalize();
  FORETRACE_PHASE_END("left open");
  FORETRACE_MARK("too late");
  return 0;
}
"""
COMPLAINT = "1 phase closed that was not open (first: 'never opened'), 1 phase left open (first: 'left open'), " \
    "2 announcements of steps (FORETRACE_COMPUTE) that are below zero or not finite, taken as 0"


class Annotations(harness.TestCase):
    def compile(self, text, ending, name="annotated"):
        source = self.write(f"{name}.{ending}", text)
        program = self.directory / f"{name}-{ending}"
        compiler = {"c": "mpicc", "f90": "mpifort"}[ending]
        module = [INCLUDE / "foretrace.f90"] if ending == "f90" else [f"-I{INCLUDE}"]
        self.ok(harness.run([f"{compiler}.{harness.mpi}", "-g", *module, source, "-o", program],
                            cwd=self.directory))
        return program

    def live(self, ranks, program, *options, name="live.ftr", status=0):
        trace = self.directory / name
        self.result = self.foretrace("simulate", "-n", ranks, "--machine", harness.T3D, "--compute", "annotated",
                                     *options, "-o", trace, "--", program, status=status)
        return trace

    def logged(self, rank):
        return [(kind, name, fields["steps"]) for kind, name, fields in rank]

    def test_program_without_any(self):
        """--compute annotated counts nothing then: whoever predicts says so, once, and what to use."""
        silent, announcing = [harness.test_program("misbehave")], [harness.paper_program("life")]
        stepless = self.write("m.toml", re.sub(r"^\[compute\]\nstep.*\n", "", harness.T3D.read_text(), flags=re.M))
        none, no_step = "no FORETRACE_COMPUTE seen", "no step under [compute]"
        for command, machine, says in ((silent, harness.T3D, none), (announcing, stepless, no_step),
                                       (announcing, harness.T3D, None)):
            trace = self.record(2, command)
            self.assertNotIn("FORETRACE_COMPUTE", self.result.err)
            annotated = ["--machine", machine, "--compute", "annotated"]
            for words, instead in ((["predict", "-n", 2, *annotated, "-o", self.directory / "p.ftr", "--", *command],
                                    "measured"),
                                   (["simulate", trace, *annotated], "recorded"),
                                   (["simulate", trace, *annotated, "--sweep", "compute=1,2,3"], "recorded"),
                                   (["simulate", "-n", 2, *annotated, "--", *command], "measured")):
                result = self.foretrace(*words)
                self.assertEqual(result.err.count("--compute annotated"), 1 if says else 0, str(result))
                if says:
                    self.assertIn(says, result.err)
                    self.assertIn(f"use --compute {instead}", result.err)

    def test_machines_without_a_step_are_not_ranked(self):
        """They would compute in no time."""
        trace = self.record(2, [harness.paper_program("life")])
        out = self.foretrace("machines", "--run", trace, "--compute", "annotated").out
        self.assertRegex(out, r"\n +- +cray-t3d ")
        self.assertRegex(out, r"\n  stampede +nobody measured a step of computation")
        self.assertNotIn("is the same for all", out)
        out = self.foretrace("machines", "--run", trace, "--compute", "annotated:1us").out
        self.assertRegex(out, r"\n +\d+ +stampede ")

    def test_cpu_times_by_default(self):
        """Whoever does not say what computation takes is told that the program says more, once."""
        silent, announcing = [harness.test_program("misbehave")], [harness.paper_program("life")]
        says = "foretrace: the program announces its computation (FORETRACE_COMPUTE), but CPU times are taken; " \
               "--compute annotated takes what it announces\n"
        for command, times in ((silent, 0), (announcing, 1)):
            trace = self.record(2, command)
            for words in (["simulate", trace], ["simulate", trace, "--sweep", "compute=1,2,3"], ["explain", trace],
                          ["predict", "-n", 2, "-o", self.directory / "p.ftr", "--", *command],
                          ["simulate", "-n", 2, "--", *command]):
                for given in ([], ["--compute", "measured"], ["--compute", "annotated"]):
                    result = self.foretrace(words[0], "--machine", harness.T3D, *given, *words[1:])
                    self.assertEqual(result.err.count(says), 0 if given else times, str(result))

    def check_all_ways(self, program):
        """The same events and times in all three; returns the prediction."""
        self.ok(harness.plain(2, [program]))
        recorded = self.record(2, [program])
        predicted = self.predict(2, [program])
        self.assertEqual(self.result.err.count("phase"), 0, self.result.err)
        live = self.live(2, program)
        self.assertEqual(self.result.err.count("phase"), 0, self.result.err)
        self.assertEqual(self.logged(self.events(recorded)[0]), LOGGED)
        self.assertEqual(self.logged(self.events(predicted)[0]), LOGGED)
        self.assert_same_ticks(predicted, self.simulate(recorded))
        # The MPI's Fortran library converts handles by calls of the live library.
        self.assertEqual(self.timed(live), self.timed(predicted))
        return predicted

    def timed(self, trace):
        return [[(kind, name, fields["enter"], fields["leave"], fields["compute"], fields["steps"])
                 for kind, name, fields in rank if not name.endswith("_f2c")] for rank in self.events(trace)]

    def test_in_c(self):
        predicted = self.check_all_ways(self.compile(ANNOTATED, "c"))
        ranks = self.events(predicted)
        values = [[fields["value"] for kind, _, fields in rank if kind == "mark"] for rank in ranks]
        self.assertEqual(values, [["0.5", 0], ["1.5", 0]])
        # One step of the Cray T3D is 1 us.
        self.assertEqual(next(fields["enter"] for kind, _, fields in ranks[0] if kind == "mark"), 100 * 10**6)
        report = json.loads(self.foretrace("report", predicted, "--json").out)
        self.assertEqual([(m["name"], m["count"], m["least"], m["most"]) for m in report["marks"]],
                         [("residual", 2, 0.5, 1.5), ("done", 2, 0, 0)])
        self.assertEqual([p["name"] for p in report["phases"]], ["outer"])
        self.assertIn("residual", self.foretrace("report", predicted).out)
        self.assertIn("\n^ residual (2), done (2)\n", self.foretrace("timeline", predicted).out)
        same = json.loads(self.foretrace("compare", predicted, predicted, "--json").out)
        self.assertTrue(same["same_structure"])

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran: Fortran programs are not tested")
    def test_in_fortran(self):
        c = self.check_all_ways(self.compile(ANNOTATED, "c"))
        c = c.rename(self.directory / "c.ftr")
        self.assert_same_ticks(c, self.check_all_ways(self.compile(FORTRAN, "f90")))

    def test_the_time_line_has_no_hole(self):
        """What was not logged still took its time: 100 + 50 + 25 + 5 + 10 us of computation."""
        predicted = self.predict(2, [self.compile(ANNOTATED, "c")])
        report = json.loads(self.foretrace("report", predicted, "--json").out)
        self.assertEqual([round(rank["compute"] * 1e6, 6) for rank in report["per_rank"]], [190, 190])

    def test_end_of_time(self):
        """40 days are told as they are; 115 days, in one step before the end, are an error in all three ways."""
        source = '#include <mpi.h>\n#include "foretrace.h"\nint main(int argc, char **argv) ' \
                 "{ MPI_Init(&argc, &argv); FORETRACE_COMPUTE(STEPS); MPI_Finalize(); return 0; }"
        days = 24 * 3600 * 10**12
        program = self.compile(source.replace("STEPS", "3.456e12"), "c", "forty")
        recorded = self.record(2, [program])
        for trace in (self.predict(2, [program]), self.live(2, program), self.simulate(recorded)):
            self.assertEqual([self.events(trace)[1][-1][2][time] for time in ("compute", "enter")], [40 * days] * 2)
        program = self.compile(source.replace("STEPS", "1e13"), "c", "endless")
        recorded = self.record(2, [program])
        for trace in (self.predict(2, [program], status=1), self.live(2, program, status=1),
                      self.simulate(recorded, status=1)):
            self.assertRegex(self.result.err, r"foretrace: rank [01].*MPI_Finalize.*: the virtual time passes 53 days")
            self.assertNotIn("predicted time", self.result.out + self.result.err)

    def test_start_off(self):
        program = self.compile(ANNOTATED, "c")
        # Nothing local until MPI_Pcontrol(1); the phase began before it and ended before it.
        expected = [("init", "MPI_Init", 0), ("collective", "MPI_Barrier", 100), ("call", "MPI_Pcontrol", 0)]
        recorded = self.directory / "off.ftr"
        self.foretrace("record", "-n", 2, "--start", "off", "-o", recorded, "--", program)
        predicted = self.predict(2, [program], options=["--start", "off"])
        live = self.live(2, program, "--start", "off")
        # MPI_Pcontrol(0) where nothing is logged is not logged itself.
        logged = self.logged(self.events(recorded)[0])
        self.assertEqual(logged[:2], expected[:2])
        self.assertEqual([name for kind, name, _ in logged if kind in ("mark", "phase_begin", "phase_end")], ["done"])
        self.assertNotIn("MPI_Comm_rank", [name for _, name, _ in logged])
        self.assert_same_ticks(predicted, self.simulate(recorded))
        self.assert_same_ticks(predicted, live)
        refused = self.foretrace("simulate", recorded, "--machine", harness.T3D, "--start", "off", status=2)
        self.assertIn("--start is for programs that run live", refused.err)
        refused = self.foretrace("record", "-n", 2, "--start", "later", "--", program, status=2)
        self.assertIn("--start", refused.err)

    def test_what_mpi_calls(self):
        """What a function announces that MPI calls is none of the program's: who calls it how often is MPI's affair."""
        program = self.compile(r"""
            #include <mpi.h>
            #include "foretrace.h"
            static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
              (void)type;
              FORETRACE_COMPUTE(1000);
              for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
            }
            int main(int argc, char **argv) {
              int one = 1, sum;
              MPI_Op op;
              MPI_Init(&argc, &argv);
              MPI_Op_create(add, 1, &op);
              for (int i = 0; i < 3; ++i) {
                FORETRACE_COMPUTE(10);
                MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
              }
              MPI_Op_free(&op);
              MPI_Finalize();
              return sum != 2;
            }""", "c", "reduces")
        recorded = self.simulate(self.record(2, [program]))
        for trace in (recorded, self.predict(2, [program]), self.live(2, program)):
            with self.subTest(trace=trace.name):
                for events in self.events(trace):
                    self.assertEqual(sum(fields.get("steps", 0) for _, _, fields in events), 30)

    def test_faults_are_told_and_do_no_harm(self):
        program = self.compile(FAULTY, "c", "faulty")
        self.record(3, [program])
        self.assertIn(f"foretrace: rank 1 (and 1 other): {COMPLAINT}\n", self.result.err)
        predicted = self.predict(3, [program])
        self.assertIn(f"foretrace: rank 1 (and 1 other): {COMPLAINT}\n", self.result.err)
        live = self.live(3, program)
        self.assertIn(f"foretrace: rank 1: {COMPLAINT}\n", self.result.err)
        self.assertNotIn("rank 0:", self.result.err)
        self.assert_same_ticks(predicted, live)
        names = {name for rank in self.events(predicted) for _, name, _ in rank}
        self.assertFalse(names & {"before MPI_Init", "too late"})
        self.assertEqual(sum(fields.get("steps", 0) for _, _, fields in self.events(predicted)[1]), 100)

    def test_compatible_headers(self):
        program = self.compile(r"""
            #include <mpi.h>
            #include "foretrace_compat.h"
            int main(int argc, char **argv) {
              int start, end;
              MPI_Init(&argc, &argv);
              time_set(0);
              FORETRACE_COMPUTE(10);
              time_mark("input");
              FORETRACE_COMPUTE(30);
              time_mark("compute");
              time_total(0);
              PRGN_BEGIN;
              FORETRACE_COMPUTE(5);
              PRGN_END;
              MPE_Log_get_state_eventIDs(&start, &end);
              MPE_Describe_state(start, end, "state", "red");
              MPE_Log_event(start, 0, NULL);
              FORETRACE_COMPUTE(7);
              MPE_Log_event(end, 0, NULL);
              MPI_Finalize();
              return 0;
            }""", "c", "compat")
        for trace in (self.predict(2, [program]), self.live(2, program)):
            report = json.loads(self.foretrace("report", trace, "--json").out)
            self.assertEqual([(p["name"], round(p["time"] * 1e6, 6), p["count"]) for p in report["phases"]],
                             [("input", 10, 2), ("compute", 30, 2), ("main", 5, 2), ("state", 7, 2)])


if __name__ == "__main__":
    harness.main()
