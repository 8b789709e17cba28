/* Cartesian grids. */
#include "check.h"

static void grid(int ndims, int* dims, int* periods) {
  MPI_Comm comm;
  int size = 1, status, n;
  for (int i = 0; i < ndims; ++i) size *= dims[i];
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
  CHECK((comm == MPI_COMM_NULL) == (check_rank >= size), "%d in a grid of %d", check_rank, size);
  if (comm == MPI_COMM_NULL) return;
  MPI_Topo_test(comm, &status);
  CHECK_EQUAL(status, MPI_CART);
  MPI_Cartdim_get(comm, &n);
  CHECK_EQUAL(n, ndims);
  int got_dims[5], got_periods[5], mine[5], coords[5], rank, me;
  MPI_Comm_rank(comm, &me);
  CHECK_OK(MPI_Cart_get(comm, ndims, got_dims, got_periods, mine));
  for (int i = 0; i < ndims; ++i) {
    CHECK_EQUAL(got_dims[i], dims[i]);
    CHECK_EQUAL(!got_periods[i], !periods[i]);
  }
  for (int r = 0; r < size; ++r) {
    CHECK_OK(MPI_Cart_coords(comm, r, ndims, coords));
    int expected = 0;
    for (int i = 0; i < ndims; ++i) expected = expected * dims[i] + coords[i];
    CHECK_EQUAL(expected, r);
    CHECK_OK(MPI_Cart_rank(comm, coords, &rank));
    CHECK_EQUAL(rank, r);
    if (r == me) CHECK(!memcmp(coords, mine, ndims * sizeof(int)), "own coordinates");
  }
  for (int i = 0; i < ndims; ++i) {
    for (int step = -dims[i] - 1; step <= dims[i] + 1; ++step) {
      int from, to;
      CHECK_OK(MPI_Cart_shift(comm, i, step, &from, &to));
      for (int side = 0; side < 2; ++side) {
        memcpy(coords, mine, sizeof coords);
        coords[i] += side ? step : -step;
        int expected = MPI_PROC_NULL;
        if (periods[i] || (coords[i] >= 0 && coords[i] < dims[i])) {
          MPI_Cart_rank(comm, coords, &expected);
        }
        CHECK(expected == (side ? to : from), "dimension %d, step %d: %d", i, step, expected);
      }
    }
  }
  /* Rows, columns and so on: all parts that there are. */
#ifdef MPICH
  int mask = 1; /* 0: see nothing_left() */
#else
  int mask = 0;
#endif
  for (; mask < 1 << ndims; ++mask) {
    int remain[5], rest = 1, expected = 0;
    for (int i = 0; i < ndims; ++i) {
      remain[i] = mask >> i & 1;
      if (remain[i]) rest *= dims[i], expected = expected * dims[i] + mine[i];
    }
    MPI_Comm part;
    CHECK_OK(MPI_Cart_sub(comm, remain, &part));
    MPI_Comm_size(part, &n);
    CHECK_EQUAL(n, rest);
    MPI_Comm_rank(part, &rank);
    CHECK_EQUAL(rank, expected);
    MPI_Cartdim_get(part, &n);
    CHECK_EQUAL(n, __builtin_popcount(mask));
    MPI_Comm_free(&part);
  }
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Topo_test(copy, &status);
  CHECK_EQUAL(status, MPI_CART);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

static void errors(void) {
  MPI_Comm comm;
  int number, dims[] = {check_size + 1}, period[] = {0}, coords[] = {5000}, status;
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, period, 0, &comm) != MPI_SUCCESS, "");
  CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &number), MPI_ERR_TOPOLOGY);
  MPI_Topo_test(MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status, MPI_UNDEFINED);
  dims[0] = check_size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, period, 1, &comm);
  CHECK_CLASS(MPI_Cart_rank(comm, coords, &number), MPI_ERR_ARG);
  if (!known_defect("openmpi")) {
    int next;
    CHECK_CLASS(MPI_Cart_coords(comm, check_size, 1, coords), MPI_ERR_RANK);
    CHECK(MPI_Cart_shift(comm, 1, 1, &number, &next) != MPI_SUCCESS, "a direction too many");
  }
  CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, period, &number));
  CHECK_EQUAL(number, check_rank);
  MPI_Comm_free(&comm);
}

/* A grid without dimensions for each process; MPICH makes only the first one's. */
static void nothing_left(void) {
  MPI_Comm line, point;
  const int remain = 0, open = 0;
  int size = 0, dimensions = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &open, 0, &line);
  CHECK_OK(MPI_Cart_sub(line, &remain, &point));
#ifdef MPICH
  if (check_rank > 0) {
    CHECK(point == MPI_COMM_NULL, "");
    MPI_Comm_free(&line);
    return;
  }
#endif
  MPI_Comm_size(point, &size);
  MPI_Cartdim_get(point, &dimensions);
  CHECK_EQUAL(size, 1);
  CHECK_EQUAL(dimensions, 0);
  MPI_Comm_free(&point);
  MPI_Comm_free(&line);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int a = 1; a <= check_size; ++a) {
    for (int b = 1; a * b <= check_size; ++b) {
      int dims[] = {a, b, 1}, periods[] = {a % 2, 1, 0};
      if (a * b * 2 > check_size) grid(2, dims, periods);
      if (a * b == check_size) grid(3, dims, periods);
    }
  }
  int one[] = {check_size}, ring[] = {1};
  grid(1, one, ring);
  grid(0, one, ring);
  nothing_left();
  errors();
  return check_end();
}
