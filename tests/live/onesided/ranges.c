/* Operations that do not fit: outside the target's memory, too long for the other side,
 * of types that do not go together. The MPIs' own libraries do not check most of these.
 * live: ranks 1 2 4 */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  _Alignas(64) int memory[8] = {0};
  int x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  double y = 0;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const int right = (check_rank + 1) % check_size;
  MPI_Win_fence(0, win);
  CHECK_CLASS(MPI_Put(x, 8, MPI_INT, right, 1, 8, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(x, 1, MPI_INT, right, 8, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(x, 1, MPI_INT, right, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  CHECK_OK(MPI_Put(x, 8, MPI_INT, right, 0, 8, MPI_INT, win));
  CHECK_OK(MPI_Put(x, 0, MPI_INT, right, 8, 0, MPI_INT, win));
  CHECK_CLASS(MPI_Put(x, 3, MPI_INT, right, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Get(x, 2, MPI_INT, right, 0, 3, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Accumulate(&y, 1, MPI_DOUBLE, right, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Accumulate(&y, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(memory[i], 1);
  CHECK_CLASS(MPI_Put(x, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(12345, 0, 0, win), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
  int* base;
  CHECK_CLASS(MPI_Win_attach(win, x, 4), MPI_ERR_RMA_FLAVOR);
  MPI_Aint size;
  int unit;
  CHECK_CLASS(MPI_Win_shared_query(win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
  MPI_Win_free(&win);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_create(memory, -4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);

  /* Memory that the target does not have at all. */
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
  CHECK_CLASS(MPI_Win_attach(win, memory + 2, 4), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_detach(win, memory + 2), MPI_ERR_BASE);
  MPI_Win_fence(0, win);
  if (right != check_rank) CHECK_CLASS(MPI_Get(x, 1, MPI_INT, right, 64, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, win);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  return check_end();
}
