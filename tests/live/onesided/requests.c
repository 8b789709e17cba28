/* Operations with requests, in passive epochs. */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  double* base;
  MPI_Win win;
  MPI_Win_allocate(8 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  for (int i = 0; i < 8; ++i) base[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  double out[4], in[4] = {9, 9, 9, 9}, old[2] = {9, 9};
  for (int i = 0; i < 4; ++i) out[i] = 10 * check_rank + i;
  MPI_Request requests[3];
  MPI_Status status;
  MPI_Rput(out, 4, MPI_DOUBLE, right, 0, 4, MPI_DOUBLE, win, &requests[0]);
  CHECK_OK(MPI_Wait(&requests[0], &status));
  CHECK(requests[0] == MPI_REQUEST_NULL);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rget(in, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win, &requests[0]);
  MPI_Rget(in + 2, 2, MPI_DOUBLE, check_rank, 2, 2, MPI_DOUBLE, win, &requests[1]);
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK(in[0] == 10 * check_rank && in[1] == 10 * check_rank + 1);
  CHECK(in[2] == 10 * left + 2 && in[3] == 10 * left + 3);
  MPI_Barrier(MPI_COMM_WORLD);
  const double two = 2, three = 3;
  MPI_Raccumulate(&two, 1, MPI_DOUBLE, 0, 6, 1, MPI_DOUBLE, MPI_SUM, win, &requests[0]);
  MPI_Rget_accumulate(&three, 1, MPI_DOUBLE, old, 1, MPI_DOUBLE, check_rank, 7, 1, MPI_DOUBLE, MPI_SUM, win, &requests[1]);
  MPI_Rput(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, win, &requests[2]);
  int flag = 0;
  while (!flag) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(old[0] == 0);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
  CHECK(base[7] == 3);
  if (check_rank == 0) CHECK(base[6] == 2 * check_size, "%g", base[6]);
  MPI_Win_unlock(check_rank, win);
  MPI_Win_free(&win);
  return check_end();
}
