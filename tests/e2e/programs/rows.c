/* Several messages of a rank at once, in many ways.
 *
 *   rows pair       two messages each way between two ranks, by Irecv, Isend and Waitall
 *   rows mixed      exchanges, rows of messages, one to all, all to one, drawn alike by all ranks
 *   rows polled     the same, where ranks test until what they exchange is there
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "foretrace.h"

enum { MOST = 16000, ROW = 3 };
static char out[MOST], in[8][MOST];
static int rank, ranks, next, before;
static MPI_Status statuses[8];

static unsigned drawn = 1;
static int draw(int below) {
  drawn = drawn * 1103515245u + 12345u;
  return (int)(drawn >> 16) % below;
}

static void finish(int count, MPI_Request* requests, int polls) {
  int done = 0;
  if (!polls) MPI_Waitall(count, requests, statuses);
  while (polls && !done) {
    FORETRACE_COMPUTE(7);
    MPI_Testall(count, requests, &done, statuses);
  }
}

static void exchange(int bytes, int polls) {
  MPI_Request requests[4];
  MPI_Irecv(in[0], bytes, MPI_CHAR, before, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], bytes, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, bytes, MPI_CHAR, before, 1, MPI_COMM_WORLD, &requests[3]);
  finish(4, requests, polls);
}

static void row(int bytes) {
  MPI_Request requests[ROW];
  for (int i = 0; i < ROW; ++i)
    MPI_Isend(out, bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < ROW; ++i)
    MPI_Recv(in[i], bytes, MPI_CHAR, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(ROW, requests, statuses);
}

static void one_to_all(int bytes, int root) {
  if (rank != root) MPI_Recv(in[0], bytes, MPI_CHAR, root, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int to = 0; rank == root && to < ranks; ++to)
    if (to != root) MPI_Send(out, bytes, MPI_CHAR, to, 3, MPI_COMM_WORLD);
}

static void all_to_one(int bytes, int root, int polls) {
  MPI_Request requests[8];
  int count = 0;
  if (rank != root) MPI_Send(out, bytes, MPI_CHAR, root, 4, MPI_COMM_WORLD);
  for (int from = 0; rank == root && from < ranks; ++from)
    if (from != root)
      MPI_Irecv(in[from], bytes, MPI_CHAR, from, 4, MPI_COMM_WORLD, &requests[count++]);
  if (rank == root) finish(count, requests, polls);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int sizes[] = {8, 800, 8000, MOST};
  const int polls = strcmp(what, "polled") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  before = (rank + ranks - 1) % ranks;
  if (strcmp(what, "pair") == 0) exchange(800, 0);
  for (int step = 0; step < 80 && strcmp(what, "pair") != 0; ++step) {
    const int bytes = sizes[draw(4)];
    const int root = draw(ranks);
    FORETRACE_COMPUTE(draw(3) == 0 ? 50 * rank : 0);
    switch (draw(5)) {
      case 0:
        exchange(bytes, polls);
        break;
      case 1:
        row(bytes);
        break;
      case 2:
        one_to_all(bytes, root);
        break;
      case 3:
        all_to_one(bytes, root, polls);
        break;
      default:
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, 5, in[0], bytes, MPI_CHAR, before, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
