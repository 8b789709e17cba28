/* live: ranks 1 2 3 8 */
/* Persistent collectives that the members start, and wait for, in different orders. */
#include "collectives.h"

enum { KINDS = 6, ROUNDS = 3 };

/* The others of the group of even, or odd, ranks. */
static MPI_Comm other_half(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 7, &inter);
  MPI_Comm_free(&half);
  return inter;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int n = check_size, me = check_rank, periodic = 1;
  MPI_Request requests[KINDS];
  MPI_Comm ring, inter = n > 1 ? other_half() : MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &ring);
  int from_root, sum, left_right[2], got[2], again[2], from_other = -1;

  int kinds = 0;
  PERSISTENT(Bcast)(&from_root, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[kinds++]);
  PERSISTENT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[kinds++]);
  PERSISTENT(Allreduce)
  (&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[kinds++]);
  PERSISTENT(Neighbor_alltoall)
  (left_right, 1, MPI_INT, got, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[kinds++]);
  PERSISTENT(Neighbor_allgather)
  (&me, 1, MPI_INT, again, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[kinds++]);
  if (n > 1) {
    /* Rank 1's number for the even ranks. */
    const int root = me % 2 == 0 ? 0 : me == 1 ? MPI_ROOT : MPI_PROC_NULL;
    PERSISTENT(Bcast)(&from_other, 1, MPI_INT, root, inter, MPI_INFO_NULL, &requests[kinds++]);
  }

  for (int round = 0; round < ROUNDS; ++round) {
    from_root = me == 0 ? 100 + round : -1;
    from_other = me == 1 ? 200 + round : -1;
    left_right[0] = 10 * me + round;
    left_right[1] = 10 * me + round + 5;
    sum = got[0] = got[1] = again[0] = again[1] = -1;
    /* Each begins with another one; every other rank goes backwards. */
    for (int i = 0; i < kinds; ++i) {
      const int at = (me + round + i) % kinds;
      CHECK_OK(MPI_Start(&requests[me % 2 == 0 ? at : kinds - 1 - at]));
    }
    for (int i = 0; i < kinds; ++i)
      CHECK_OK(MPI_Wait(&requests[(me + i) % kinds], MPI_STATUS_IGNORE));
    const int left = (me + n - 1) % n, right = (me + 1) % n;
    CHECK_EQUAL(from_root, 100 + round);
    CHECK_EQUAL(sum, n * (n - 1) / 2);
    if (n > 2) {
      CHECK_EQUAL(got[0], 10 * left + round + 5);
      CHECK_EQUAL(got[1], 10 * right + round);
    }
    CHECK_EQUAL(again[0], left);
    CHECK_EQUAL(again[1], right);
    if (n > 1 && me % 2 == 0) CHECK_EQUAL(from_other, 200 + round);
  }

  for (int i = 0; i < kinds; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  MPI_Comm_free(&ring);
  if (n > 1) MPI_Comm_free(&inter);
  return check_end();
}
