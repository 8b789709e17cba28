"""Data that does not lie together: all three ways see in which pieces it lies, and take the same time."""

import re

import harness

FUNCTION = '[[function]]\nname = "{}"\n[[function.regime]]\nc = {}\n'
MACHINE = '[machine]\nname = "m"\ntime_unit = "us"\n[compute]\nstep = "1us"\n' + "".join(
    FUNCTION.format(name, takes) for name, takes in
    (("send", 10), ("recv", 100), ("recvmin", 70), ("isend1", 1), ("isend2", 2), ("irecv1", 3), ("irecv2", 4),
     ("ssend", 30), ("sendrecv", 120), ("test", 0.2)))
PIECES = '[pieces]\nsend.8 = [[800, "2us"]]\nrecv.8 = [[800, "5us"]]\n'

# Rank 0 sends a column of 100 doubles to rank 1, which takes it into one, in the way that is named.
COLUMN = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { kRows = 100, kWidth = 7 };
static double matrix[2][kRows * kWidth];
int main(int argc, char **argv) {
  int rank, done = 0;
  MPI_Datatype column;
  MPI_Request requests[4];
  MPI_Message message;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(kRows, 1, kWidth, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double *out = matrix[0], *in = matrix[1];
  for (int i = 0; i < kRows; ++i) out[kWidth * i] = i + 1000 * rank;
  const char *way = argv[1];
  const int other = 1 - rank;
  if (strcmp(way, "sendrecv") == 0) {
    MPI_Sendrecv(out, 1, column, other, 1, in, 1, column, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "replace") == 0) {
    MPI_Sendrecv_replace(out, 1, column, other, 1, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memcpy(in, out, sizeof matrix[0]);
  } else if (rank == 0 && strcmp(way, "send") == 0) {
    MPI_Send(out, 1, column, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 0 && strcmp(way, "ssend") == 0) {
    MPI_Ssend(out, 1, column, 1, 1, MPI_COMM_WORLD);
  } else if (strcmp(way, "send") == 0 || strcmp(way, "ssend") == 0) {
    MPI_Recv(in, 1, column, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 0 && strcmp(way, "late") == 0) {
    FORETRACE_COMPUTE(500);
    MPI_Send(out, 1, column, 1, 1, MPI_COMM_WORLD);
  } else if (strcmp(way, "late") == 0) {
    MPI_Irecv(in, 1, column, 0, 1, MPI_COMM_WORLD, &requests[0]);
    while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "both") == 0) {
    for (int k = 0; k < 2; ++k) {
      MPI_Irecv(in, 1, column, other, k, MPI_COMM_WORLD, &requests[2 * k]);
      MPI_Isend(out, 1, column, other, k, MPI_COMM_WORLD, &requests[2 * k + 1]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else if (strcmp(way, "persistent") == 0) {
    MPI_Recv_init(in, 1, column, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, column, other, 1, MPI_COMM_WORLD, &requests[1]);
    for (int k = 0; k < 3; ++k) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  } else if (rank == 0) {
    MPI_Send(out, 1, column, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (strcmp(way, "mrecv") == 0) {
      MPI_Mrecv(in, 1, column, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Imrecv(in, 1, column, &message, &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  const int gets = rank == 1 || strcmp(way, "both") == 0 || strcmp(way, "persistent") == 0;
  for (int i = 0; gets && i < kRows; ++i)
    if (in[kWidth * i] != i + 1000 * other) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
"""

# In microseconds: when the last call before MPI_Finalize leaves, on rank 0 and on rank 1. A receiver that waits from 0
# on: max(70, 2 + 100) + 5. Sendrecv: 2, then max(send 10, max(70, 120)) and 5. Two of each: 3 + (2 + 1) for each pair
# of postings, so the second message leaves at 11; its transfer (irecv1 + irecv2) is over at 18; at 12 the wait begins,
# and completes in the order of the array: max(12 + 4, 5 + 7) = 16, max(16 + 4, 18) = 20, the sends between; then twice 5.
LEAVES = {"send": (12, 107), "ssend": (32, 107), "sendrecv": (127, 127), "both": (30, 30)}
WAYS = ("send", "ssend", "sendrecv", "replace", "late", "both", "persistent", "mrecv", "imrecv")

# Each line: what makes `type`, how many of it are sent, and the bytes of a piece.
TYPES = [
    ("MPI_Type_vector(100, 1, 2, MPI_DOUBLE, &type);", 1, 8),
    ("MPI_Type_vector(100, 3, 5, MPI_DOUBLE, &type);", 1, 24),
    ("MPI_Type_vector(100, 4, 4, MPI_DOUBLE, &type);", 1, 0),
    ("MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &type);", 1, 0),  # too little to matter
    ("MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &part); MPI_Type_contiguous(10, part, &type);", 1, 8),
    ("MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &type);", 10, 8),
    ("MPI_Type_create_hvector(10, 2, 100, MPI_DOUBLE, &type);", 1, 16),
    ("MPI_Type_create_hvector(10, 2, 16, MPI_DOUBLE, &type);", 1, 0),
    ("int n[] = {4, 4, 8}, at[] = {0, 4, 20}; MPI_Type_indexed(3, n, at, MPI_DOUBLE, &type);", 1, 64),
    ("int n[] = {4, 0, 8}, at[] = {0, 9, 4}; MPI_Type_indexed(3, n, at, MPI_DOUBLE, &type);", 1, 0),
    ("int at[] = {0, 4, 8, 10}; MPI_Type_create_indexed_block(4, 2, at, MPI_DOUBLE, &type);", 1, 21),
    ("MPI_Aint at[] = {0, 40, 104}; MPI_Type_create_hindexed_block(3, 4, at, MPI_DOUBLE, &type);", 1, 32),
    ("int n[] = {5, 4}; MPI_Aint at[] = {0, 40}; MPI_Type_create_hindexed(2, n, at, MPI_DOUBLE, &type);", 1, 0),
    ("int n[] = {1, 1}; MPI_Aint at[] = {0, 8}; MPI_Datatype of[] = {MPI_INT, MPI_DOUBLE};"
     "MPI_Type_create_struct(2, n, at, of, &type);", 10, 6),
    ("int n[] = {2, 1}; MPI_Aint at[] = {0, 8}; MPI_Datatype of[] = {MPI_INT, MPI_DOUBLE};"
     "MPI_Type_create_struct(2, n, at, of, &type);", 10, 0),
    ("int n[] = {10, 10}, part_of[] = {4, 3}, at[] = {1, 2};"
     "MPI_Type_create_subarray(2, n, part_of, at, MPI_ORDER_C, MPI_DOUBLE, &type);", 1, 24),
    ("int n[] = {10, 10}, part_of[] = {4, 3}, at[] = {1, 2};"
     "MPI_Type_create_subarray(2, n, part_of, at, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);", 1, 32),
    ("int n[] = {10, 10}, part_of[] = {4, 10}, at[] = {1, 0};"
     "MPI_Type_create_subarray(2, n, part_of, at, MPI_ORDER_C, MPI_DOUBLE, &type);", 1, 0),
    ("int n[] = {4, 4, 4}, part_of[] = {4, 2, 4}, at[] = {0, 1, 0};"
     "MPI_Type_create_subarray(3, n, part_of, at, MPI_ORDER_C, MPI_DOUBLE, &type);", 1, 64),
    ("int n[] = {4, 4, 4}, part_of[] = {4, 4, 2}, at[] = {0, 0, 1};"
     "MPI_Type_create_subarray(3, n, part_of, at, MPI_ORDER_C, MPI_DOUBLE, &type);", 1, 16),
    ("MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &type);", 10, 8),
    ("MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &part); MPI_Type_contiguous(10, part, &type);", 1, 8),
    ("MPI_Type_vector(100, 1, 2, MPI_DOUBLE, &part); MPI_Type_dup(part, &type);", 1, 8),
    ("int n[] = {8, 8}, how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, by[] = {4, 1}, grid[] = {2, 1};"
     "MPI_Type_create_darray(2, 0, 2, n, how, by, grid, MPI_ORDER_C, MPI_DOUBLE, &type);", 1, 8),
]
SENDS = r"""
#include <mpi.h>
static double data[100000];
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
"""


class Pieces(harness.TestCase):
    @staticmethod
    def last_call(events):
        """With a message."""
        return [fields for kind, _, fields in events if kind in ("send", "recv", "sendrecv", "complete")][-1]

    def three_ways(self, program, *words, machine=MACHINE + PIECES):
        model = self.write("machine.toml", machine)
        predicted = self.predict(2, [program, *words], model)
        recorded = self.record(2, [program, *words])
        simulated = self.simulate(recorded, model)
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 2, "--machine", model, "--compute", "annotated", "-o", live, "--mpi",
                       harness.mpi, "--", program, *words)
        return predicted, simulated, live

    def test_take_the_same_time_in_all_ways(self):
        program = self.compile(COLUMN, "column")
        for way in WAYS:
            with self.subTest(way=way):
                predicted, simulated, live = self.three_ways(program, way)
                if way == "late":  # looks that fail are no two times the same
                    leaves = [[self.last_call(events)["leave"] for events in self.events(trace)]
                              for trace in (predicted, simulated, live)]
                    self.assertEqual(leaves, [[512 * 10**6, 514 * 10**6]] * 3)
                    continue
                self.assert_same_ticks(predicted, simulated)
                self.assert_same_ticks(predicted, live)
                last = [self.last_call(events) for events in self.events(predicted)]
                if way in LEAVES:
                    self.assertEqual([call["leave"] for call in last], [us * 10**6 for us in LEAVES[way]])
                if way == "send":
                    self.assertEqual([call["wait"] for call in last], [0, 32 * 10**6])
                    self.assertEqual([call["enter"] for call in last], [0, 0])

    def test_stay_in_other_formats(self):
        program = self.compile(COLUMN, "column")
        for way in ("sendrecv", "both", "mrecv"):
            predicted = self.three_ways(program, way)[0]
            for other in ("folder/a.otf2", "a.txt"):
                with self.subTest(way=way, other=other):
                    there, back = self.directory / way / other, self.directory / f"{way}-back.ftr"
                    there.parent.mkdir(parents=True, exist_ok=True)
                    back.unlink(missing_ok=True)
                    self.foretrace("convert", predicted, there)
                    self.foretrace("convert", there, back)
                    self.assert_same_ticks(predicted, back)

    def test_are_told_where_the_model_does_not_know_them(self):
        program = self.compile(COLUMN, "column")
        model = self.write("bare.toml", MACHINE)
        told = "takes no longer than other data, for want of [pieces] in the machine model"
        self.predict(2, [program, "send"], model)
        self.assertIn(told, self.result.err)
        recorded = self.record(2, [program, "send"])
        self.assertNotIn("for want of", self.result.err)
        self.simulate(recorded, model)
        self.assertIn(told, self.result.err)
        self.simulate(recorded, self.write("machine.toml", MACHINE + PIECES))
        self.assertNotIn("for want of", self.result.err)

    def test_other_networks_take_them_apart_too(self):
        program = self.compile(COLUMN, "column")
        recorded = self.record(2, [program, "sendrecv"])
        ends = []
        for pieces in ("", PIECES):
            model = self.write("machine.toml", MACHINE + pieces)
            trace = self.directory / "loggps.ftr"
            self.foretrace("simulate", recorded, "--machine", model, "--compute", "none", "--network", "loggps",
                           "--loggps", "L=10us,os=1us,or=1us,g=0,G=0,S=0", "-o", trace)
            ends.append([self.last_call(events)["leave"] for events in self.events(trace)])
        self.assertEqual([after - before for before, after in zip(*ends)], [7 * 10**6] * 2)

    def test_are_counted_by_the_constructors_of_types(self):
        lines = []
        for make, count, _ in TYPES:
            free = "if (part != MPI_DATATYPE_NULL) MPI_Type_free(&part);"
            lines.append(f"{{ MPI_Datatype type, part = MPI_DATATYPE_NULL; {make} MPI_Type_commit(&type);"
                         f"if (rank == 0) MPI_Send(data, {count}, type, 1, 0, MPI_COMM_WORLD);"
                         f"else MPI_Recv(data, {count}, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
                         f"MPI_Type_free(&type); {free} }}\n")
        program = self.compile(SENDS + "".join(lines) + "MPI_Finalize(); return 0; }", "types")
        for way, trace in zip(("predict", "simulate", "live"), self.three_ways(program)):
            for rank, (kind, field) in enumerate((("send", "send"), ("recv", "recv"))):
                ends = [fields[field] for name, _, fields in self.events(trace)[rank] if name == kind]
                found = [int(piece.group(1)) if (piece := re.search(r"/in-(\d+)", end)) else 0 for end in ends]
                with self.subTest(way=way, kind=kind):
                    self.assertEqual(found, [piece for _, _, piece in TYPES])


if __name__ == "__main__":
    harness.main()
