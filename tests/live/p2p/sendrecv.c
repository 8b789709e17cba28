/* Sendrecv and Sendrecv_replace: shifts, different types and sizes on both sides, with
 * nobody, with oneself; where MPI 4 is there, their posted forms. */
#include "check.h"

static void shift(int distance, int count) {
  const int to = (check_rank + distance) % check_size;
  const int from = (check_rank + check_size - distance % check_size) % check_size;
  double* out = malloc(sizeof(double) * (size_t)(count + 1));
  double* in = malloc(sizeof(double) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) out[i] = check_rank + i * 0.5;
  MPI_Status status;
  MPI_Sendrecv(out, count, MPI_DOUBLE, to, 3, in, count, MPI_DOUBLE, from, 3, MPI_COMM_WORLD,
               &status);
  int got = -1, wrong = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &got);
  CHECK_EQUAL(got, count);
  CHECK_EQUAL(status.MPI_SOURCE, from);
  for (int i = 0; i < count; ++i) wrong += in[i] != from + i * 0.5;
  CHECK_EQUAL(wrong, 0);

  MPI_Sendrecv_replace(out, count, MPI_DOUBLE, to, 4, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  for (int i = 0; i < count; ++i) wrong += out[i] != from + i * 0.5;
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(status.MPI_TAG, 4);
#if MPI_VERSION >= 4
  MPI_Request request;
  for (int i = 0; i < count; ++i) in[i] = -1;
  MPI_Isendrecv(out, count, MPI_DOUBLE, to, 5, in, count, MPI_DOUBLE, from, 5, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, &status); /* MPICH 4.0.2 gives no status here */
  const int twice = (from + check_size - distance % check_size) % check_size;
  for (int i = 0; i < count; ++i) wrong += in[i] != twice + i * 0.5;
  CHECK_EQUAL(wrong, 0);
  if (!known_defect("mpich")) CHECK_EQUAL(status.MPI_SOURCE, from);
  MPI_Isendrecv_replace(out, count, MPI_DOUBLE, to, 6, from, 6, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  for (int i = 0; i < count; ++i) wrong += out[i] != twice + i * 0.5;
  CHECK_EQUAL(wrong, 0);
#endif
  free(out);
  free(in);
}

/* A chain without ends: the outermost talk to nobody, and keep what they have. */
static void chain(void) {
  const int right = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
  const int left = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL;
  int in = -7;
  MPI_Status status;
  MPI_Sendrecv(&check_rank, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
               &status);
  CHECK_EQUAL(in, left == MPI_PROC_NULL ? -7 : left);
  CHECK_EQUAL(status.MPI_SOURCE, left);
  int value = check_rank;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(value, left == MPI_PROC_NULL ? check_rank : left);
}

/* A column goes out, a row comes in; the receive is longer than the message. */
static void mixed_types(void) {
  enum { kRows = 5, kColumns = 7 };
  int matrix[kRows][kColumns], row[kRows + 4];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) matrix[i][j] = 100 * check_rank + 10 * i + j;
  MPI_Datatype column;
  MPI_Type_vector(kRows, 1, kColumns, MPI_INT, &column);
  MPI_Type_commit(&column);
  const int to = (check_rank + 1) % check_size;
  const int from = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < kRows + 4; ++i) row[i] = -1;
  MPI_Status status;
  MPI_Sendrecv(&matrix[0][2], 1, column, to, 0, row, kRows + 4, MPI_INT, from, 0, MPI_COMM_WORLD,
               &status);
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, kRows);
  for (int i = 0; i < kRows; ++i) CHECK_EQUAL(row[i], 100 * from + 10 * i + 2);
  for (int i = kRows; i < kRows + 4; ++i) CHECK_EQUAL(row[i], -1);
  MPI_Sendrecv_replace(&matrix[0][1], 1, column, to, 0, from, 0, MPI_COMM_WORLD, &status);
  for (int i = 0; i < kRows; ++i) {
    CHECK_EQUAL(matrix[i][1], 100 * from + 10 * i + 1);
    CHECK_EQUAL(matrix[i][0], 100 * check_rank + 10 * i);
    CHECK_EQUAL(matrix[i][3], 100 * check_rank + 10 * i + 3);
  }
  MPI_Type_free(&column);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int counts[] = {0, 1, 100, 20000};
  for (int i = 0; i < 4; ++i) {
    shift(1, counts[i]);
    shift(check_size, counts[i]);
    if (check_size > 2) shift(check_size - 1, counts[i]);
  }
  chain();
  mixed_types();
  return check_end();
}
