/* Communicators that overlap in time and in members. live: ranks 2 3 4 7 8 */
#include "check.h"

/* Pairs (i, i + 1), first for even i, then for odd: each rank is in two groups. */
static void pairs(int first, int tag) {
  if (check_rank < first) return;
  const int low = (check_rank - first) / 2 * 2 + first;
  if (low + 1 >= check_size) return;
  int members[] = {low, low + 1}, sum;
  MPI_Group world, pair;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, members, &pair);
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, pair, tag, &comm));
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQUAL(sum, 2 * low + 1);
  MPI_Comm_free(&comm);
  MPI_Group_free(&pair);
  MPI_Group_free(&world);
}

/* Halves of halves, each in the reverse order of the one before. */
static void halves(void) {
  MPI_Comm whole, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &whole);
  for (int depth = 0; depth < 4; ++depth) {
    int rank, size, one = 1, sum;
    MPI_Comm_rank(whole, &rank);
    MPI_Comm_size(whole, &size);
    MPI_Comm_split(whole, rank * 2 / size, size - rank, &half);
    MPI_Comm_free(&whole);
    whole = half;
    MPI_Comm_size(whole, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, whole);
    CHECK_EQUAL(sum, size);
  }
  MPI_Comm_free(&whole);
}

/* A communicator that is freed before its message has come. */
static void freed(void) {
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  int sent = 42, got = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (check_rank == 0) MPI_Isend(&sent, 1, MPI_INT, 1, 3, comm, &request);
  if (check_rank == 1) MPI_Irecv(&got, 1, MPI_INT, 0, 3, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (check_rank == 1) CHECK_EQUAL(got, 42);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  for (int round = 0; round < 3; ++round) {
    pairs(0, 7 * round);
    pairs(1, 7 * round);
  }
  halves();
  freed();
  for (int i = 0; i < 100; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
  }
  return check_end();
}
