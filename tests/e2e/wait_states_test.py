"""Scalasca's documented wait states, one small program each: explain names them as its manual does.

https://www.scalasca.org, "Performance properties": Late Sender, Messages in Wrong Order, Late
Receiver, Wait at Barrier, Barrier Completion, Wait at N x N, N x N Completion, Early Reduce, Late
Broadcast, Early Scan.
"""

import json

import harness

# Whoever is late computes for 50 ms. Where the wait is, a line ends with its comment.
PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "foretrace.h"

static int rank, size;
static int one = 1, sum;
static char large[100000];

static void work(int of) { if (rank == of) FORETRACE_COMPUTE(50000); }

static void late_sender(void) {
  work(1);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /*late sender*/
}

static void late_sender_posted(void) {
  MPI_Request request;
  work(1);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Irecv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /*late sender posted*/
}

static void late_receiver(void) {
  work(0);
  if (rank == 1) MPI_Send(large, sizeof large, MPI_CHAR, 0, 0, MPI_COMM_WORLD); /*late receiver*/
  if (rank == 0) MPI_Recv(large, sizeof large, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* From the same source, but the later message first. */
static void wrong_order(void) {
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  work(1);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Recv(&sum, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /*wrong order*/
  MPI_Recv(&sum, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* From different sources; rank 2's has been there long. */
static void wrong_order_sources(void) {
  work(1);
  if (rank > 0 && rank < 3) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /*wrong order sources*/
  MPI_Recv(&sum, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* As wrong_order_sources, but nothing was there to be received before. */
static void right_order(void) {
  work(1);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /*right order*/
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 2) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void) {
  work(1);
  MPI_Barrier(MPI_COMM_WORLD); /*barrier*/
}

static void nxn(void) {
  work(1);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /*nxn*/
}

static void nxn_posted(void) {
  MPI_Request request;
  work(1);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /*nxn posted*/
}

static void early_reduce(void) {
  work(1);
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /*early reduce*/
}

static void late_broadcast(void) {
  work(0);
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD); /*late broadcast*/
}

static void early_scan(void) {
  work(1);
  MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /*early scan*/
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
#define STATE(name) if (strcmp(argv[i], #name) == 0) name();
    STATE(late_sender) STATE(late_sender_posted) STATE(late_receiver) STATE(wrong_order)
    STATE(wrong_order_sources) STATE(right_order) STATE(barrier) STATE(nxn) STATE(nxn_posted)
    STATE(early_reduce) STATE(late_broadcast) STATE(early_scan)
  }
  MPI_Finalize();
  return 0;
}
"""
MACHINE = """
[machine]
name = "one microsecond a step"
[compute]
step = 1e-6
[loggps]
S = 1000
"""
LATE = 0.05
# Which program has which wait, on which ranks of 4.
STATES = {"late_sender": ("late sender", [0]), "late_sender_posted": ("late sender", [0]),
          "late_receiver": ("late receiver", [1]),
          "wrong_order": ("messages in wrong order", [0]),
          "wrong_order_sources": ("messages in wrong order", [0]),
          "right_order": ("late sender", [0]),
          "barrier": ("wait at barrier", [0, 2, 3]), "nxn": ("wait at n-to-n", [0, 2, 3]),
          "nxn_posted": ("wait at n-to-n", [0, 2, 3]), "early_reduce": ("early reduce", [0]),
          "late_broadcast": ("late broadcast", [1, 2, 3]), "early_scan": ("early scan", [2, 3])}


def place_of(state):
    comment = f"/*{state.replace('_', ' ')}*/"
    return "states.c:" + str(next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if comment in line))


class WaitStates(harness.TestCase):
    def setUp(self):
        super().setUp()
        source = self.write("states.c", PROGRAM)
        self.program = self.directory / "states"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-g", f"-I{harness.SOURCE}/include", source,
                             "-o", self.program]))
        self.machine = self.write("m.toml", MACHINE)

    def explain(self, state, *options):
        trace = self.record(4, [self.program, state], name=f"{state}.ftr")
        return json.loads(self.foretrace("explain", trace, "--machine", self.machine, "--compute", "annotated",
                                         *options, "--json").out)

    def at(self, explained, state):
        return {wait["kind"]: wait for wait in explained["waits"] if wait["place"] == place_of(state)}

    def test_states(self):
        for state, (kind, ranks) in STATES.items():
            with self.subTest(state=state):
                explained = self.explain(state)
                found = self.at(explained, state)
                self.assertEqual(list(found), [kind], explained["waits"])
                wait = found[kind]
                self.assertEqual(wait["ranks"], ranks)
                # All the lateness, nothing else: on this machine messages take no time.
                self.assertAlmostEqual(wait["time"], LATE * len(ranks), 9)
                self.assertAlmostEqual(wait["longest"], LATE, 9)
                late = 0 if state in ("late_receiver", "late_broadcast") else 1
                self.assertEqual((wait["cause"]["what"], wait["cause"]["rank"]), ("computation before", late))
                self.assertAlmostEqual(wait["late"]["time"], LATE * len(ranks), 9)

    def test_completion(self):
        """All are there at once, and leave one after the other: rank 0 serves the members in turn."""
        network = ("--network", "loggps", "--loggps", "L=10us,o=100us,g=100us,G=1ns")
        for state, kind, collective in (("barrier", "barrier completion", "barrier"),
                                        ("nxn", "n-to-n completion", "allreduce")):
            with self.subTest(state=state):
                program = self.explain("none_" + state, *network)  # no such state: nothing happens
                self.assertEqual(program["waits"], [])
                explained = self.explain(state, *network, "--collectives", f"{collective}=linear")
                found = self.at(explained, state)
                self.assertIn(kind, found, explained["waits"])
                # Rank 1 is late and gets its answer with or before the others; who still waits
                # when the first has left waits for the operation alone.
                self.assertLess(found[kind]["longest"], LATE / 10)
                self.assertIsNone(found[kind]["late"])
                early = "wait at barrier" if state == "barrier" else "wait at n-to-n"
                self.assertIn(early, found)


if __name__ == "__main__":
    harness.main()
