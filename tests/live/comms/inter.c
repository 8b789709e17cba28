/* Inter-communicators. live: ranks 2 3 4 5 8 */
#include "check.h"

static MPI_Comm halves, inter;
static int lower, own, others;

/* Ranks below the border are the one side, the others the other. */
static void make(void) {
  const int border = check_size / 2 > 0 ? check_size / 2 : 1;
  lower = check_rank < border;
  own = lower ? border : check_size - border;
  others = check_size - own;
  MPI_Comm_split(MPI_COMM_WORLD, lower, check_rank, &halves);
  /* The upper side's leader is its last one. */
  const int leader = lower ? 0 : own - 1;
  const int peer = lower ? check_size - 1 : 0;
  CHECK_OK(MPI_Intercomm_create(halves, leader, MPI_COMM_WORLD, peer, 12, &inter));
}

static void look(MPI_Comm comm) {
  int flag, size, remote, result;
  MPI_Comm_test_inter(comm, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Comm_size(comm, &size);
  MPI_Comm_remote_size(comm, &remote);
  CHECK_EQUAL(size, own);
  CHECK_EQUAL(remote, others);
  MPI_Group far, near;
  MPI_Comm_remote_group(comm, &far);
  MPI_Comm_group(comm, &near);
  MPI_Group both;
  MPI_Group_intersection(far, near, &both);
  CHECK(both == MPI_GROUP_EMPTY, "the groups have common members");
  MPI_Group_compare(far, near, &result);
  CHECK_EQUAL(result, MPI_UNEQUAL);
  MPI_Group_free(&far);
  MPI_Group_free(&near);
}

/* Each sends its world rank to all of the other side. */
static void talk(MPI_Comm comm, int expected_first) {
  MPI_Request requests[64];
  int got[64], remote;
  MPI_Comm_remote_size(comm, &remote);
  for (int i = 0; i < remote; ++i) MPI_Irecv(&got[i], 1, MPI_INT, i, 1, comm, &requests[2 * i]);
  for (int i = 0; i < remote; ++i) {
    MPI_Isend(&check_rank, 1, MPI_INT, i, 1, comm, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < remote; ++i) CHECK_EQUAL(got[i], expected_first + i);
  int all[64];
  MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < remote; ++i) CHECK_EQUAL(all[i], expected_first + i);
}

static void merge(int high_lower, int high_upper, int lower_first) {
  MPI_Comm merged;
  int rank, size, sum;
  CHECK_OK(MPI_Intercomm_merge(inter, lower ? high_lower : high_upper, &merged));
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  CHECK_EQUAL(size, check_size);
  int local;
  MPI_Comm_rank(halves, &local);
  CHECK_EQUAL(rank, lower == lower_first ? local : others + local);
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
  MPI_Comm_free(&merged);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make();
  look(inter);
  talk(inter, lower ? own : 0);
  merge(0, 1, 1);
  merge(1, 0, 0);

  MPI_Comm copy;
  int result;
  CHECK_OK(MPI_Comm_dup(inter, &copy));
  look(copy);
  talk(copy, lower ? own : 0);
  MPI_Comm_compare(inter, copy, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(inter, halves, &result);
  CHECK_EQUAL(result, MPI_UNEQUAL);
  MPI_Comm_free(&copy);

  /* Of each side the first, backwards by key for good measure. */
  MPI_Comm part;
  int rank;
  MPI_Comm_rank(halves, &rank);
  CHECK_OK(MPI_Comm_split(inter, rank == 0 ? 1 : MPI_UNDEFINED, 0, &part));
  CHECK((part == MPI_COMM_NULL) == (rank != 0), "");
  if (part != MPI_COMM_NULL) {
    int size, remote;
    MPI_Comm_size(part, &size);
    MPI_Comm_remote_size(part, &remote);
    CHECK_EQUAL(size, 1);
    CHECK_EQUAL(remote, 1);
    talk(part, lower ? own : 0);
    MPI_Comm_free(&part);
  }
  CHECK_OK(MPI_Comm_split(inter, 0, -rank, &part));
  {
    int back, size;
    MPI_Comm_rank(part, &back);
    MPI_Comm_size(part, &size);
    CHECK_EQUAL(size, own);
    CHECK_EQUAL(back, own - 1 - rank);
    int got = -1, sum = 0;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, part);
    const int first = lower ? own : 0;
    CHECK_EQUAL(sum, others * (2 * first + others - 1) / 2);
    /* The remote rank 0 is the last of the other side. */
    MPI_Request request;
    if (back == 0) MPI_Isend(&check_rank, 1, MPI_INT, 0, 0, part, &request);
    if (back == 0) {
      MPI_Recv(&got, 1, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE);
      CHECK_EQUAL(got, first + others - 1);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_free(&part);

  /* A side that nobody is in makes none. */
  CHECK_OK(MPI_Comm_split(inter, lower, 0, &part));
  CHECK(part == MPI_COMM_NULL, "colours that only one side has");

  MPI_Group near, first_of;
  int zero = 0;
  MPI_Comm_group(inter, &near);
  MPI_Group_incl(near, 1, &zero, &first_of);
  CHECK_OK(MPI_Comm_create(inter, first_of, &part));
  CHECK((part == MPI_COMM_NULL) == (rank != 0), "");
  if (part != MPI_COMM_NULL) {
    talk(part, lower ? own : 0);
    MPI_Comm_free(&part);
  }
  MPI_Group_free(&near);
  MPI_Group_free(&first_of);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&halves);
  return check_end();
}
