/* Each collective with a count for each rank, with counts that differ and some that are 0; and each
   of them with equal counts. With an argument, all are posted. Everything that arrives is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 16 };

static int rank, ranks, bad, posted;
static int counts[kMost], starts[kMost], into[kMost], places[kMost];
static MPI_Datatype types[kMost];

#define CALL(whole, part, ...)               \
  do {                                       \
    MPI_Request request;                     \
    if (posted) {                            \
      part(__VA_ARGS__, &request);           \
      MPI_Wait(&request, MPI_STATUS_IGNORE); \
    } else {                                 \
      whole(__VA_ARGS__);                    \
    }                                        \
  } while (0)

/* Rank r has so much: 100, 0, 300, 0, ...; equally 50. */
static int part(int r, int equal) {
  return equal ? 50 : r % 2 ? 0 : 100 * (r + 1);
}

/* From each to each: nothing to oneself and to the next one. */
static int piece(int from, int to, int equal) {
  if (equal) return 50;
  return to == from || to == (from + 1) % ranks ? 0 : 10 * from + to + 1;
}

static int lay_out(int* sizes, int* offsets, int (*size)(int, int), int equal) {
  int total = 0;
  for (int r = 0; r < ranks; ++r) {
    sizes[r] = size(r, equal);
    offsets[r] = total;
    total += sizes[r];
  }
  return total;
}

static int sent(int to, int equal) {
  return piece(rank, to, equal);
}
static int received(int from, int equal) {
  return piece(from, rank, equal);
}

static void check(const int* data, int count, int value) {
  for (int i = 0; i < count; ++i) bad += data[i] != value;
}

static void fill(int* data, int count, int value) {
  for (int i = 0; i < count; ++i) data[i] = value;
}

static void rooted(int* out, int* in, int root, int equal) {
  const int mine = part(rank, equal);
  lay_out(counts, starts, part, equal);
  fill(out, mine, rank);
  CALL(MPI_Gatherv, MPI_Igatherv, out, mine, MPI_INT, in, counts, starts, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; rank == root && r < ranks; ++r) check(in + starts[r], counts[r], r);
  for (int r = 0; r < ranks; ++r) fill(out + starts[r], counts[r], 7 * r);
  CALL(MPI_Scatterv, MPI_Iscatterv, out, counts, starts, MPI_INT, in, mine, MPI_INT, root, MPI_COMM_WORLD);
  check(in, mine, 7 * rank);
}

static void all(int* out, int* in, int equal) {
  const int total = lay_out(counts, starts, part, equal);
  fill(out, total, rank);
  CALL(MPI_Allgatherv, MPI_Iallgatherv, out, counts[rank], MPI_INT, in, counts, starts, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(in + starts[r], counts[r], r);
  /* Rank 1 gets nothing, and may be gone before rank 0 comes. */
  if (rank == 0) usleep(20000);
  CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(in, counts[rank], ranks * (ranks - 1) / 2);
}

static void exchange(int* out, int* in, int equal) {
  lay_out(counts, starts, sent, equal);
  lay_out(into, places, received, equal);
  for (int r = 0; r < ranks; ++r) fill(out + starts[r], counts[r], 100 * rank + r);
  CALL(MPI_Alltoallv, MPI_Ialltoallv, out, counts, starts, MPI_INT, in, into, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(in + places[r], into[r], 100 * r + rank);
  for (int r = 0; r < ranks; ++r) {
    types[r] = MPI_INT;
    starts[r] *= (int)sizeof(int);
    places[r] *= (int)sizeof(int);
  }
  memset(in, 0, sizeof(int) * 4096);
  CALL(MPI_Alltoallw, MPI_Ialltoallw, out, counts, starts, types, in, into, places, types, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(in + places[r] / (int)sizeof(int), into[r], 100 * r + rank);
}

/* In place, the same goes both ways. */
static void in_place(int* in) {
  for (int r = 0; r < ranks; ++r) {
    counts[r] = 5 * (rank + r);
    starts[r] = 200 * r;
    fill(in + starts[r], counts[r], 100 * rank + r);
  }
  CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, starts, MPI_INT,
                MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(in + starts[r], counts[r], 100 * r + rank);
}

int main(int argc, char** argv) {
  static int out[4096], in[4096];
  MPI_Init(&argc, &argv);
  posted = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 8) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int equal = 0; equal < 2; ++equal) {
    rooted(out, in, ranks - 1, equal);
    all(out, in, equal);
    exchange(out, in, equal);
  }
  in_place(in);
  MPI_Finalize();
  if (bad != 0) return 3;
  if (rank == 0) puts("unequal: all checks passed");
  return 0;
}
