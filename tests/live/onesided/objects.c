/* What a window knows of itself: attributes, group, name, hints; wrong arguments.
 * live: ranks 4 7 8
 * Open MPI 4.1 makes no such windows on one rank.
 * Windows' memory is aligned: MPICH 4.0 takes other addresses for less. */
#include "check.h"

static void attributes(MPI_Win win, void* base, MPI_Aint size, int unit, int flavor) {
  void* value;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  CHECK(flag && (size == 0 || value == base));
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  CHECK(flag);
  CHECK_EQUAL(*(MPI_Aint*)value, size);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
  CHECK(flag);
  CHECK_EQUAL(*(int*)value, unit);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  CHECK(flag);
  CHECK_EQUAL(*(int*)value, flavor);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
  CHECK(flag && (*(int*)value == MPI_WIN_UNIFIED || *(int*)value == MPI_WIN_SEPARATE));
}

static void errors(MPI_Win win) {
  int x = 0;
  MPI_Request request;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, win), MPI_ERR_RANK);
  CHECK(MPI_Win_lock(12345, 0, 0, win) != MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Rput(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK_CLASS(MPI_Put(&x, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, check_size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
  CHECK_OK(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Get(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Accumulate(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
  MPI_Win_unlock(0, win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Win win;
  _Alignas(64) double memory[5];
  void* base;
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  attributes(win, memory, sizeof memory, 8, MPI_WIN_FLAVOR_CREATE);
  errors(win);
  MPI_Win_set_name(win, "the window");
  MPI_Win_get_name(win, name, &length);
  CHECK(strcmp(name, "the window") == 0, "%s", name);
  CHECK_EQUAL(length, 10);

  MPI_Group world, group;
  int same;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_get_group(win, &group);
  MPI_Group_compare(world, group, &same);
  CHECK_EQUAL(same, MPI_IDENT);
  MPI_Group_free(&world);
  MPI_Group_free(&group);

  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  CHECK_OK(MPI_Win_set_info(win, info));
  CHECK_OK(MPI_Win_get_info(win, &used));
  CHECK(used != MPI_INFO_NULL);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_Win_free(&win);

  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  attributes(win, base, 64, 4, MPI_WIN_FLAVOR_ALLOCATE);
  MPI_Win_free(&win);
  MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  attributes(win, base, 64, 4, MPI_WIN_FLAVOR_SHARED);
  MPI_Win_free(&win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_free(&win);

  /* Windows on parts of the world, several at a time. Open MPI 4.1 gives the two halves' shared
   * files the same name, and one half then writes into the other's. */
  if (known_defect("openmpi")) return check_end();
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
  int rank, size, value;
  _Alignas(64) int cell = -1;
  _Alignas(64) int other = -1;
  MPI_Win second;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, half, &win);
  MPI_Win_create(&other, sizeof other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
  MPI_Comm_free(&half);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, second);
  value = check_rank;
  MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Put(&value, 1, MPI_INT, check_size - 1 - check_rank, 0, 1, MPI_INT, second);
  MPI_Win_fence(0, second);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(other, check_size - 1 - check_rank);
  const int before = check_rank + 2; /* the ranks are in reverse order */
  CHECK_EQUAL(cell, before < check_size ? before : check_rank % 2);
  MPI_Win_free(&second);
  MPI_Win_free(&win);
  return check_end();
}
