/* patterns - what run_live.py measures: patterns of messages without anything else.
 *
 *   patterns exchange ROUNDS BYTES    Irecv and Isend with both neighbours of a ring, Waitall
 *   patterns allreduce ROUNDS         of one double
 *   patterns pingpong ROUNDS BYTES    between ranks 2 i and 2 i + 1
 *   patterns stream ROUNDS BYTES      from ranks 2 i to 2 i + 1, which take them late
 *   patterns compute MILLIONS         arithmetic, then an Allreduce; ten times
 *   patterns nothing [SECONDS]        start and end; rank 0 waits for so long in between
 *
 * Compiled with an MPI's compiler, as C or as C++, or with SimGrid's smpicc. Rank 0 prints a line:
 * the result, which is the same everywhere.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static double exchange(int rounds, int bytes) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  char* buffers = (char*)calloc(4, (size_t)bytes + 8);
  char* part[4];
  for (int i = 0; i < 4; ++i) part[i] = buffers + i * (bytes + 8);
  double sum = 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[4];
    part[2][0] = (char)(rank + i);
    part[3][0] = (char)(rank - i);
    MPI_Irecv(part[0], bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(part[1], bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(part[2], bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(part[3], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    sum += part[0][0] + part[1][0];
  }
  free(buffers);
  return sum;
}

static double allreduce(int rounds) {
  double value = rank, sum = 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    value = sum / size;
  }
  return sum;
}

static double pingpong(int rounds, int bytes) {
  const int partner = rank ^ 1;
  char* buffer = (char*)calloc(1, (size_t)bytes + 1);
  for (int i = 0; i < rounds; ++i) {
    if (rank % 2 == 0) {
      ++buffer[0];
      MPI_Send(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    }
  }
  const double result = buffer[0];
  free(buffer);
  return result;
}

/* Until the receiver begins, all messages wait for it. */
static double stream(int rounds, int bytes) {
  const int partner = rank ^ 1;
  char* buffer = (char*)calloc(1, (size_t)bytes + 1);
  double sum = 0;
  for (int i = 0; i < rounds && rank % 2 == 0; ++i) {
    buffer[0] = (char)i;
    MPI_Send(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < rounds && rank % 2 == 1; ++i) {
    MPI_Recv(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += buffer[0];
  }
  free(buffer);
  return sum;
}

static double compute(int millions) {
  double x = 1 + rank, sum = 0;
  for (int part = 0; part < 10; ++part) {
    for (long i = 0; i < millions * 100000L; ++i) x = x * 0.999999 + 1e-6 * (double)(i & 7);
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "nothing";
  const int rounds = argc > 2 ? atoi(argv[2]) : 0, bytes = argc > 3 ? atoi(argv[3]) : 8;
  double result = 0;
  if (!strcmp(what, "exchange")) result = exchange(rounds, bytes);
  if (!strcmp(what, "allreduce")) result = allreduce(rounds);
  if (!strcmp(what, "pingpong")) result = pingpong(rounds, bytes);
  if (!strcmp(what, "stream")) result = stream(rounds, bytes);
  if (!strcmp(what, "compute")) result = compute(rounds);
  if (!strcmp(what, "nothing") && rounds > 0) {
    if (rank == 0) sleep((unsigned)rounds);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s of %d ranks: %.12g\n", what, size, result);
  MPI_Finalize();
  return 0;
}
