/* Messages stay in their communicator: duplicates, halves, reordered ones, collectives
 * beside them.
 * live: ranks 2 3 4 7 8 */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm copy, backwards, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, check_size - check_rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
  int place = -1, half_size = 0, half_rank = -1;
  MPI_Comm_rank(backwards, &place);
  CHECK_EQUAL(place, check_size - 1 - check_rank);
  MPI_Comm_size(half, &half_size);
  MPI_Comm_rank(half, &half_rank);
  CHECK_EQUAL(half_rank, check_rank / 2);

  /* The same tag to the same process in three communicators, received in another order. */
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int out[3], in[3] = {-1, -1, -1}, sum = 0;
  MPI_Request sends[3];
  MPI_Status status;
  for (int i = 0; i < 3; ++i) out[i] = 10 * check_rank + i;
  MPI_Isend(&out[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&out[1], 1, MPI_INT, next, 1, copy, &sends[1]);
  MPI_Isend(&out[2], 1, MPI_INT, check_size - 1 - next, 1, backwards, &sends[2]);
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
  MPI_Recv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, backwards, &status);
  CHECK_EQUAL(in[2], 10 * previous + 2);
  CHECK_EQUAL(status.MPI_SOURCE, check_size - 1 - previous);
  MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &status);
  CHECK_EQUAL(in[1], 10 * previous + 1);
  int flag = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, half, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(in[0], 10 * previous);
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);

  /* Round the half ring. */
  const int after = (half_rank + 1) % half_size, before = (half_rank + half_size - 1) % half_size;
  MPI_Sendrecv(&check_rank, 1, MPI_INT, after, 0, &in[0], 1, MPI_INT, before, 0, half, &status);
  CHECK_EQUAL(in[0], 2 * before + check_rank % 2);
  CHECK_EQUAL(status.MPI_SOURCE, before);
  /* A freed communicator's pending messages arrive. */
  MPI_Request receive;
  MPI_Irecv(&in[1], 1, MPI_INT, previous, 3, copy, &receive);
  MPI_Isend(&out[1], 1, MPI_INT, next, 3, copy, &sends[0]);
  MPI_Comm_free(&copy);
  CHECK(copy == MPI_COMM_NULL);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  CHECK_EQUAL(in[1], 10 * previous + 1);
  MPI_Comm_free(&backwards);
  MPI_Comm_free(&half);
  return check_end();
}
