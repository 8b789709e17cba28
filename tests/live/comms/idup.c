/* MPI_Comm_idup does not wait for the others. live: ranks 2 3 4 8 */
#include "check.h"

static int copies;
static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void use(MPI_Comm comm) {
  int sum, result;
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm one, two;
  MPI_Request requests[2];
  int key, flag, token = 0;
  void* value;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm base;
  MPI_Comm_dup(MPI_COMM_WORLD, &base);
  MPI_Comm_set_attr(base, key, &token);

  /* The others post only after rank 0 has posted and gone on. */
  if (check_rank > 0) {
    MPI_Recv(&token, 1, MPI_INT, check_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  CHECK_OK(MPI_Comm_idup(base, &one, &requests[0]));
  CHECK_OK(MPI_Comm_idup(base, &two, &requests[1]));
  if (check_rank + 1 < check_size) {
    MPI_Send(&token, 1, MPI_INT, check_rank + 1, 0, MPI_COMM_WORLD);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(copies, 2);
  use(one);
  use(two);
  MPI_Comm_get_attr(two, key, &value, &flag);
  CHECK(flag && value == &token, "the attribute");

  /* A context of its own each. */
  int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  int a = 1, b = 2, got = 0;
  MPI_Isend(&a, 1, MPI_INT, next, 0, one, &requests[0]);
  MPI_Isend(&b, 1, MPI_INT, next, 0, two, &requests[1]);
  MPI_Recv(&got, 1, MPI_INT, last, 0, two, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 2);
  MPI_Recv(&got, 1, MPI_INT, last, 0, one, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
  MPI_Comm_free(&base);
  MPI_Comm_free_keyval(&key);
  return check_end();
}
