"""Calls that come to MPI by ways of their own: from functions of MPI that the program defines itself,
and on communicators that come of no other one; and those that leave MPI by an exception. They take
the time that they take live."""

import json

import harness

RANKS = 3

# A tool that is loaded before the program: it lets all meet before a reduction.
TOOL = r"""
#include <mpi.h>
#include <stdio.h>
static int reductions;
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++reductions;
  PMPI_Barrier(comm);
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("tool: %d reductions\n", reductions);
  return PMPI_Finalize();
}
"""
# Ranks that are through with their part of a posted reduction leave MPI until the root is through, too.
LEAVES = r"""
#include <mpi.h>
#include <sched.h>
int main(int argc, char** argv) {
  int rank, unit;
  volatile int* reduced;
  MPI_Aint bytes;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &reduced, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &reduced);
  if (rank == 0) *reduced = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i <= 2000; ++i) {
    MPI_Request request;
    int one = 1, all;
    MPI_Ireduce(&one, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) *reduced = i;
    while (*reduced < i) sched_yield();
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "foretrace.h"
int main(int argc, char** argv) {
  double sum, mine = 1;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 5; ++i) {
    FORETRACE_COMPUTE(100 * rank);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s\n", getenv("LD_PRELOAD"));
  MPI_Finalize();
  return 0;
}
"""


class OwnWays(harness.TestCase):
    def check(self, name, said, calls):
        command = [harness.test_program(name)]
        self.assertEqual(self.ok(harness.plain(RANKS, command)).out, said)
        self.check_ways(command, said, calls)

    def check_ways(self, command, said, calls, **rest):
        predicted = self.predict(RANKS, command, **rest)
        self.assertEqual(self.result.out, said)
        recorded = self.record(RANKS, command, **rest)
        self.assertEqual(self.result.out, said)
        seen = [call for _, call, _ in self.events(recorded)[0]]
        self.assertEqual({call: seen.count(call) for call in calls}, calls)
        live = self.directory / "live.ftr"
        result = self.foretrace("simulate", "-n", RANKS, "--machine", harness.T3D, "--compute", "annotated",
                                "-o", live, "--", *command, **rest)
        self.assertTrue(result.out.startswith(said), result.out)
        self.assert_same_ticks(predicted, live)
        self.assert_same_ticks(predicted, self.simulate(recorded))

    def test_functions_of_the_program(self):
        self.check("own_layer", "own_layer: 5 reductions, 5 sends\n",
                   {"MPI_Allreduce": 5, "MPI_Isend": 5, "MPI_Send": 0, "MPI_Finalize": 1})

    def test_functions_of_a_tool_that_is_loaded_before(self):
        """LD_PRELOAD outside of foretrace: its functions stand before MPI's, as they do without foretrace, also in
        what the program starts."""
        compiler, include = f"mpicc.{harness.mpi}", f"-I{harness.SOURCE / 'include'}"
        tool, program = self.directory / "tool.so", self.directory / "program"
        self.ok(harness.run([compiler, "-shared", "-fPIC", self.write("tool.c", TOOL), "-o", tool]))
        self.ok(harness.run([compiler, include, self.write("program.c", PROGRAM), "-o", program, "-ldl"]))
        self.check_ways([program], f"{tool}\ntool: 5 reductions\n", {"MPI_Barrier": 5, "MPI_Allreduce": 5, "MPI_Finalize": 1},
                        env={"LD_PRELOAD": str(tool)})

    def test_whoever_is_through_may_leave(self):
        """No rank owes another one anything once what it posted is complete."""
        program = self.compile(LEAVES, "leaves")
        self.predict(5, [program], compute="none")

    def test_they_are_profiled(self):
        command = [harness.test_program("own_layer")]
        out = self.directory / "own.json"
        self.foretrace("profile", "-n", RANKS, "-o", out, "--", *command)
        functions = {f["name"]: f["calls"] for f in json.loads(out.read_text())["functions"]}
        self.assertEqual(functions["MPI_Allreduce"], 5 * RANKS)

    def test_communicators_of_groups(self):
        self.check("session_comms", "session_comms: sum 3, from 2\n",
                   {"MPI_Allreduce": 1, "MPI_Sendrecv": 1})

    def test_error_handlers_that_throw(self):
        self.check("throwing", "throwing: 9 of 9 caught\n", {"MPI_Allreduce": 1, "MPI_Finalize": 1})


if __name__ == "__main__":
    harness.main()
