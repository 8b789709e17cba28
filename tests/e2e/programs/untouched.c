/* Sends the same data again and again, and says before each call whether it has been written or
 * received into since: a mark "untouched" or "touched". Three ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "foretrace.h"

enum { kBytes = 4096 };

static int rank, size;
static char *out, *other, *in, *result, *zeros;

static void says(int untouched) {
  FORETRACE_MARK(untouched ? "untouched" : "touched");
}

/* Each sends on to the next. */
static void pass(const char* data) {
  MPI_Sendrecv(data, kBytes, MPI_CHAR, (rank + 1) % size, 1, in, kBytes, MPI_CHAR,
               (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(char* data, int to, int from) {
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Irecv(in, kBytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(data, kBytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, statuses);
}

static void blocking(void) {
  int i;
  for (i = 0; i < 4; ++i) {
    if (i == 2) ++out[kBytes - 1];
    says(i == 1 || i == 3);
    if (rank == 0) MPI_Send(out, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* Another receiver, another length, one that is too short to be asked about. */
  for (i = 0; i < 2; ++i) {
    says(i);
    if (rank == 0) MPI_Send(out, kBytes, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(in, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    says(i);
    if (rank == 0) MPI_Send(out, kBytes / 2, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(in, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    says(0);
    if (rank == 0) MPI_Send(out, 100, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(in, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void in_a_ring(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request sends;
  MPI_Datatype every_second;
  int i;
  for (i = 0; i < 2; ++i) {
    says(i);
    pass(other);
  }
  /* The same in another way; then what has just been received goes on. */
  says(1);
  exchange(other, to, from);
  for (i = 0; i < 2; ++i) {
    says(0);
    MPI_Sendrecv_replace(in, kBytes, MPI_CHAR, to, 1, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    says(0);
    exchange(in + kBytes, to, from);
    MPI_Sendrecv(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, in + kBytes, kBytes, MPI_CHAR, MPI_PROC_NULL,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* Persistent, and data in many pieces. */
  MPI_Send_init(other, kBytes, MPI_CHAR, to, 2, MPI_COMM_WORLD, &sends);
  for (i = 0; i < 2; ++i) {
    if (i == 1) memset(other, 'z', kBytes);
    says(i == 0);
    MPI_Start(&sends);
    MPI_Recv(in, kBytes, MPI_CHAR, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sends, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&sends);
  MPI_Type_vector(kBytes / 2, 1, 2, MPI_CHAR, &every_second);
  MPI_Type_commit(&every_second);
  for (i = 0; i < 2; ++i) {
    says(0);
    MPI_Sendrecv(other, 1, every_second, to, 3, in, kBytes, MPI_CHAR, from, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&every_second);
}

/* What receives makes no difference but by its place: a few bytes in the middle, a reduction. */
static void received_into(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int i;
  for (i = 0; i < 2; ++i) {
    says(i);
    pass(result);
  }
  says(0);
  MPI_Sendrecv(in + 1, 8, MPI_CHAR, to, 4, result + 1001, 8, MPI_CHAR, from, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  says(0);
  pass(result);
  says(0);
  MPI_Reduce(other, result, 16, MPI_BYTE, MPI_BAND, 1, MPI_COMM_WORLD);
  says(rank != 1);
  pass(result);
  says(0);
  MPI_Scan(other, result, 16, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
  says(0);
  pass(result);
  says(0);
  MPI_Reduce_scatter_block(zeros, result, 16, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
  says(0);
  pass(result);
  says(0);
  MPI_Scatter(zeros, 16, MPI_CHAR, result, 16, MPI_CHAR, 0, MPI_COMM_WORLD);
  /* Sent once more by the call that receives into it afterwards. */
  says(0);
  pass(result);
  says(1);
  MPI_Sendrecv_replace(result, kBytes, MPI_CHAR, to, 4, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  says(0);
  pass(result);
}

static void together(void) {
  int i;
  for (i = 0; i < 4; ++i) {
    if (i == 2) ++*out;
    says(i % 2);
    MPI_Bcast(rank == 1 ? out : in, kBytes, MPI_CHAR, 1, MPI_COMM_WORLD);
    says(i % 2);
    MPI_Alltoall(out, kBytes, MPI_CHAR, in, kBytes, MPI_CHAR, MPI_COMM_WORLD);
    says(i % 2);
    MPI_Allgather(out, kBytes, MPI_CHAR, in, kBytes, MPI_CHAR, MPI_COMM_WORLD);
    says(i % 2);
    MPI_Gather(out, kBytes, MPI_CHAR, in, kBytes, MPI_CHAR, 2, MPI_COMM_WORLD);
    says(i % 2);
    MPI_Scatter(out, kBytes, MPI_CHAR, in, kBytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    says(0);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, in, kBytes, MPI_CHAR, MPI_COMM_WORLD);
  }
  /* One of them has written: the others do not gain. */
  if (rank == 2) ++*out;
  says(rank != 2);
  MPI_Alltoall(out, kBytes, MPI_CHAR, in, kBytes, MPI_CHAR, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = calloc(size, kBytes);
  other = calloc(size, kBytes);
  in = calloc(size + 1, kBytes);
  result = calloc(1, kBytes);
  zeros = calloc(size, kBytes);
  blocking();
  in_a_ring();
  received_into();
  together();
  MPI_Finalize();
  free(out);
  free(other);
  free(in);
  free(result);
  free(zeros);
  return 0;
}
