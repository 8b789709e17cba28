/* Groups: sets, lists of ranks, comparison, translation. */
#include "check.h"

static MPI_Group world;
static int size, rank;

static int rank_in(MPI_Group group, int place) {
  int result;
  MPI_Group_translate_ranks(group, 1, &place, world, &result);
  return result;
}

static void check_members(MPI_Group group, int n, const int* members, const char* what) {
  int count, own, expected = MPI_UNDEFINED;
  MPI_Group_size(group, &count);
  CHECK(count == n, "%s: size %d, expected %d", what, count, n);
  for (int i = 0; i < n && i < count; ++i) {
    CHECK(rank_in(group, i) == members[i], "%s: member %d is %d, expected %d", what, i,
          rank_in(group, i), members[i]);
    if (members[i] == rank) expected = i;
  }
  MPI_Group_rank(group, &own);
  CHECK(own == expected, "%s: own rank %d, expected %d", what, own, expected);
}

static void lists(void) {
  int back[64], evens[64], odds[64], n_evens = 0, n_odds = 0;
  for (int i = 0; i < size; ++i) back[i] = size - 1 - i;
  for (int i = 0; i < size; ++i) (i % 2 ? (odds[n_odds++] = i) : (evens[n_evens++] = i));
  MPI_Group reversed, even, odd, all, none, left;
  CHECK_OK(MPI_Group_incl(world, size, back, &reversed));
  check_members(reversed, size, back, "incl");
  CHECK_OK(MPI_Group_incl(world, n_evens, evens, &even));
  CHECK_OK(MPI_Group_excl(world, n_evens, evens, &odd));
  check_members(odd, n_odds, odds, "excl");

  int result;
  MPI_Group_compare(world, reversed, &result);
  CHECK_EQUAL(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
  MPI_Group_compare(even, odd, &result);
  CHECK_EQUAL(result, MPI_UNEQUAL);

  int expected[64];
  memcpy(expected, odds, sizeof odds);
  memcpy(expected + n_odds, evens, n_evens * sizeof(int));
  CHECK_OK(MPI_Group_union(odd, even, &all));
  check_members(all, size, expected, "union");
  CHECK_OK(MPI_Group_intersection(even, odd, &none));
  CHECK(none == MPI_GROUP_EMPTY, "the intersection of even and odd ranks");
  CHECK_OK(MPI_Group_difference(reversed, odd, &left));
  for (int i = 0; i < n_evens; ++i) expected[i] = evens[n_evens - 1 - i];
  check_members(left, n_evens, expected, "difference");

  int from[65], to[65];
  for (int i = 0; i < size; ++i) from[i] = i;
  from[size] = MPI_PROC_NULL;
  CHECK_OK(MPI_Group_translate_ranks(reversed, size + 1, from, even, to));
  for (int i = 0; i < size; ++i) {
    CHECK_EQUAL(to[i], back[i] % 2 ? MPI_UNDEFINED : back[i] / 2);
  }
  CHECK_EQUAL(to[size], MPI_PROC_NULL);
  MPI_Group_free(&reversed);
  CHECK(reversed == MPI_GROUP_NULL, "a freed handle");
  MPI_Group_free(&even);
  if (odd != MPI_GROUP_EMPTY) MPI_Group_free(&odd);
  MPI_Group_free(&all);
  MPI_Group_free(&left);
}

static void ranges(void) {
  MPI_Group some;
  int down[1][3] = {{size - 1, 0, -2}}, expected[64], n = 0;
  for (int i = size - 1; i >= 0; i -= 2) expected[n++] = i;
  CHECK_OK(MPI_Group_range_incl(world, 1, down, &some));
  check_members(some, n, expected, "range_incl");
  MPI_Group_free(&some);
  n = 0;
  for (int i = 0; i < size; ++i) {
    if ((size - 1 - i) % 2) expected[n++] = i;
  }
  CHECK_OK(MPI_Group_range_excl(world, 1, down, &some));
  check_members(some, n, expected, "range_excl");
  if (n) MPI_Group_free(&some);
  if (size >= 4) {
    int two[2][3] = {{3, 3, 1}, {0, 2, 2}}, three[] = {3, 0, 2};
    CHECK_OK(MPI_Group_range_incl(world, 2, two, &some));
    check_members(some, 3, three, "two ranges");
    MPI_Group_free(&some);
  }
}

static void errors(void) {
  MPI_Group group;
  int twice[] = {0, 0}, out[] = {size}, number;
  if (!known_defect("mpich") && !known_defect("openmpi")) {
    CHECK_CLASS(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
    CHECK(MPI_Group_excl(world, -1, out, &group) != MPI_SUCCESS, "less than none");
  }
  CHECK_CLASS(MPI_Group_incl(world, 1, out, &group), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &number), MPI_ERR_GROUP);
  int zero[1][3] = {{0, 0, 0}};
  CHECK(MPI_Group_range_incl(world, 1, zero, &group) != MPI_SUCCESS, "a stride of 0");
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  size = check_size, rank = check_rank;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  lists();
  ranges();
  errors();
  MPI_Group empty = MPI_GROUP_EMPTY;
  int number;
  MPI_Group_size(empty, &number);
  CHECK_EQUAL(number, 0);
  MPI_Group_rank(empty, &number);
  CHECK_EQUAL(number, MPI_UNDEFINED);
  MPI_Group_free(&world);
  return check_end();
}
