/* Communicators from communicators: members, order, contexts of their own. */
#include "check.h"

/* Every member sends its world rank to its right neighbour and sums all ranks up: wrong
 * members, order or context show. */
static void use(MPI_Comm comm, const char* what) {
  int rank, size, sum, got, world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "%s: sum %d of %d", what, sum, size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm,
               MPI_STATUS_IGNORE);
  CHECK(got == (rank + size - 1) % size, "%s: %d from the left", what, got);
}

static void duplicates(void) {
  MPI_Comm copy, second;
  int result, length;
  char name[MPI_MAX_OBJECT_NAME];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  use(copy, "dup");
  MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(copy, copy, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Comm_get_name(copy, name, &length);
  CHECK_EQUAL(length, 0);
  CHECK_OK(MPI_Comm_set_name(copy, "a copy"));
  MPI_Comm_get_name(copy, name, &length);
  CHECK(length == 6 && !strcmp(name, "a copy"), "'%s'", name);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(!strcmp(name, "MPI_COMM_WORLD"), "'%s'", name);

  /* A message on one does not meet a receive on the other. */
  MPI_Comm_dup(copy, &second);
  int one = 1, two = 2, got = 0, next = (check_rank + 1) % check_size;
  int last = (check_rank + check_size - 1) % check_size;
  MPI_Request requests[2];
  MPI_Isend(&one, 1, MPI_INT, next, 0, copy, &requests[0]);
  MPI_Isend(&two, 1, MPI_INT, next, 0, second, &requests[1]);
  MPI_Recv(&got, 1, MPI_INT, last, 0, second, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 2);
  MPI_Recv(&got, 1, MPI_INT, last, 0, copy, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_OK(MPI_Comm_free(&second));
  CHECK(second == MPI_COMM_NULL, "a freed handle");
  CHECK_OK(MPI_Comm_disconnect(&copy));

  MPI_Request request;
  CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  use(copy, "idup");
  MPI_Comm_free(&copy);
}

static void splits(void) {
  MPI_Comm part;
  int rank, size;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3, -check_rank, &part));
  MPI_Comm_rank(part, &rank);
  MPI_Comm_size(part, &size);
  CHECK_EQUAL(size, (check_size - check_rank % 3 + 2) / 3);
  CHECK_EQUAL(rank, size - 1 - check_rank / 3);
  use(part, "split");
  MPI_Comm_free(&part);
  /* Equal keys: the old order. */
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 7, 42, &part));
  MPI_Comm_rank(part, &rank);
  CHECK_EQUAL(rank, check_rank);
  MPI_Comm_free(&part);
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank ? 0 : MPI_UNDEFINED, 0, &part));
  CHECK((part == MPI_COMM_NULL) == (check_rank == 0), "MPI_UNDEFINED");
  if (part != MPI_COMM_NULL) {
    use(part, "split without rank 0");
    MPI_Comm_free(&part);
  }
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
  use(part, "split_type");
  MPI_Comm_free(&part);
}

static void from_groups(void) {
  MPI_Group world, some;
  MPI_Comm part;
  int backwards[64], n = 0, rank;
  for (int i = check_size - 1; i >= 0; i -= 2) backwards[n++] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, backwards, &some);
  const int place = (check_size - 1 - check_rank) % 2 ? -1 : (check_size - 1 - check_rank) / 2;

  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, some, &part));
  CHECK((part == MPI_COMM_NULL) == (place < 0), "");
  if (part != MPI_COMM_NULL) {
    MPI_Comm_rank(part, &rank);
    CHECK_EQUAL(rank, place);
    use(part, "create");
    MPI_Comm_free(&part);
  }
  /* Only the members call. */
  if (place >= 0) {
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &part));
    MPI_Comm_rank(part, &rank);
    CHECK_EQUAL(rank, place);
    use(part, "create_group");
    int result;
    MPI_Group mine;
    MPI_Comm_group(part, &mine);
    MPI_Group_compare(mine, some, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_free(&mine);
    MPI_Comm_free(&part);
  }
  /* Disjoint groups at once. */
  MPI_Group mine;
  int range[1][3] = {{check_rank % 2, check_size - 1, 2}};
  range[0][1] = check_size - 1 - (check_size - 1 - check_rank % 2) % 2;
  MPI_Group_range_incl(world, 1, range, &mine);
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, mine, &part));
  MPI_Comm_rank(part, &rank);
  CHECK_EQUAL(rank, check_rank / 2);
  use(part, "create of two");
  MPI_Comm_free(&part);
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &part));
  CHECK(part == MPI_COMM_NULL, "of an empty group");
  MPI_Group_free(&mine);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
}

static void errors(void) {
  MPI_Comm made, world = MPI_COMM_WORLD;
  int number;
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &number), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
  if (!known_defect("mpich") && !known_defect("openmpi")) {
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &number), MPI_ERR_COMM);
  }
  CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  duplicates();
  splits();
  from_groups();
  errors();
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL, "MPI_Comm_get_parent");
  int flag;
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  CHECK_EQUAL(flag, 0);
  use(MPI_COMM_SELF, "self");
  return check_end();
}
