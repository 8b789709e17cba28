/* 5,000 requests outstanding at a time, completed in another order than posted.
 * live: ranks 1 2 4 */
#include "check.h"

enum { kMany = 5000 };
static MPI_Request requests[2 * kMany];
static int out[kMany], in[kMany];

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kMany; ++i) {
      in[i] = -1;
      out[i] = check_rank * kMany + i;
    }
    for (int i = 0; i < kMany; ++i)
      MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < kMany; ++i) {
      const int k = (int)((long)i * 1999 % kMany); /* all of them, mixed up */
      MPI_Isend(&out[k], 1, MPI_INT, next, k, MPI_COMM_WORLD, &requests[kMany + k]);
    }
    if (round == 0) {
      MPI_Waitall(2 * kMany, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 2 * kMany - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    int wrong = 0;
    for (int i = 0; i < kMany; ++i) wrong += in[i] != previous * kMany + i;
    CHECK_EQUAL(wrong, 0);
  }
  /* All unexpected before the first receive: last sent, first received. */
  for (int i = 0; i < kMany; ++i)
    MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = kMany - 1; i >= 0; --i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (value != previous * kMany + i) CHECK_EQUAL(value, previous * kMany + i);
  }
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  return check_end();
}
