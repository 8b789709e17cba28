/* Mistakes that are found in the arguments. live: ranks 1 2 4 */
/* live: not under record */
/* live: not under predict */
#include "check.h"

static void no_place(void) {
  int number = 3, numbers[3] = {0, 0, 1};
  MPI_Group group, empty = MPI_GROUP_EMPTY;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  CHECK_CLASS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_group(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_size(group, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_union(group, empty, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_contiguous(3, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Isend(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_create(NULL), MPI_ERR_ARG);
  /* Nothing to be put anywhere. */
  CHECK_OK(MPI_Group_translate_ranks(group, 0, NULL, group, NULL));
  CHECK_CLASS(MPI_Group_translate_ranks(group, 1, NULL, group, numbers), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_translate_ranks(group, 1, numbers, group, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_range_incl(group, 1, NULL, &empty), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_range_excl(group, 1, NULL, &empty), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_incl(group, 1, NULL, &empty), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_excl(group, 1, NULL, &empty), MPI_ERR_ARG);
  MPI_Group_free(&group);
}

static void same_buffer(void) {
  int numbers[4] = {1, 2, 3, 4};
  CHECK_CLASS(MPI_Reduce_local(numbers, numbers, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Reduce_local(MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
#ifndef OPEN_MPI
  int counts[64], places[64];
  MPI_Datatype types[64];
  for (int i = 0; i < check_size; ++i) {
    counts[i] = 1;
    places[i] = 0;
    types[i] = MPI_INT;
  }
  if (check_rank == 0) {
    CHECK_CLASS(
        MPI_Gatherv(numbers, 1, MPI_INT, numbers, counts, places, MPI_INT, 0, MPI_COMM_WORLD),
        MPI_ERR_BUFFER);
    CHECK_CLASS(
        MPI_Scatterv(numbers, counts, places, MPI_INT, numbers, 1, MPI_INT, 0, MPI_COMM_WORLD),
        MPI_ERR_BUFFER);
  }
  CHECK_CLASS(MPI_Allgather(&numbers[check_rank], 1, MPI_INT, numbers, 1, MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allgatherv(numbers, 1, MPI_INT, numbers, counts, places, MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Alltoallv(numbers, counts, places, MPI_INT, numbers, counts, places, MPI_INT,
                            MPI_COMM_WORLD),
              MPI_ERR_BUFFER);
  CHECK_CLASS(
      MPI_Alltoallw(numbers, counts, places, types, numbers, counts, places, types, MPI_COMM_WORLD),
      MPI_ERR_BUFFER);
  /* A broadcast is as long for all. */
  for (int other = 1; other <= 3; other += 2) {
    const int error = MPI_Bcast(numbers, check_rank == 0 ? 2 : other, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK((error != MPI_SUCCESS) == (check_rank != 0), "%d", other);
  }
#endif
}

static void grid(void) {
  MPI_Comm made = MPI_COMM_SELF;
  const int dims[2] = {check_size, 2}, periods[2] = {0, 0};
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made) != MPI_SUCCESS);
  CHECK(made == MPI_COMM_NULL);
}

static void swap(void) {
  double number = 1, zero = 0, result;
  MPI_Win win;
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  CHECK_CLASS(MPI_Compare_and_swap(&zero, &number, &result, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  no_place();
  same_buffer();
  grid();
  swap();
  return check_end();
}
