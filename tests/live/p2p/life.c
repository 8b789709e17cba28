/* Init and Finalize: what may be asked before and after, thread levels, clocks, arguments,
 * work after MPI_Finalize and in atexit.
 * live: ranks 1 2 8
 * live: arguments one --two "" three
 * live: compare */
#include <unistd.h>

#include "check.h"

static int deleted;
static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  deleted = *(int*)value;
  /* MPI still works in here: attributes of MPI_COMM_SELF go first. */
  int flag = 1, rank = -1;
  MPI_Finalized(&flag);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(!flag && rank == check_rank);
  return MPI_SUCCESS;
}

static void at_exit(void) {
  int flag = 0;
  MPI_Finalized(&flag);
  if (check_rank == 0) printf("at exit: finalized %d, failures %d\n", flag, check_failures);
  fflush(stdout);
  if (!flag || check_failures) _exit(1);
}

int main(int argc, char** argv) {
  int flag = -1, version = 0, subversion = 0, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  CHECK(!flag);
  MPI_Finalized(&flag);
  CHECK(!flag);
  MPI_Get_version(&version, &subversion);
  CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "%d.%d", version, subversion);
  MPI_Get_library_version(text, &length);
  CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);

  check_init(&argc, &argv);
  atexit(at_exit);
  CHECK_EQUAL(argc, 5);
  CHECK(argc == 5 && !strcmp(argv[2], "--two") && !strcmp(argv[3], ""));
  MPI_Initialized(&flag);
  CHECK(flag);
  int level = -1, is_main = 0;
  MPI_Query_thread(&level);
  CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE, "level %d", level);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main);
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Get_processor_name(name, &length);
  CHECK(length > 0 && (int)strlen(name) == length);

  const double tick = MPI_Wtick();
  CHECK(tick > 0 && tick < 1, "%g", tick);
  double before = MPI_Wtime();
  for (int i = 0; i < 1000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= before, "the clock went back from %.12g to %.12g", before, now);
    before = now;
  }
  /* Waiting for the clock comes to an end. */
  const double start = MPI_Wtime();
  while (MPI_Wtime() < start + 20 * tick) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Wtime() >= start + 20 * tick);
  /* One rank's clock after another's: a message carries the time. */
  double stamp = MPI_Wtime();
  if (check_rank > 0)
    MPI_Recv(&stamp, 1, MPI_DOUBLE, check_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double now = MPI_Wtime();
  int* global = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
  if (flag && *global) CHECK(now >= stamp, "%.12g after %.12g", now, stamp);
  if (check_rank + 1 < check_size) MPI_Send(&now, 1, MPI_DOUBLE, check_rank + 1, 0, MPI_COMM_WORLD);

  int keyval = MPI_KEYVAL_INVALID, value = 5;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value);
  if (check_rank == 0) printf("ranks %d\n", check_size);
  fflush(stdout);
  MPI_Finalize();
  CHECK_EQUAL(deleted, 5);
  MPI_Finalized(&flag);
  CHECK(flag);
  MPI_Initialized(&flag);
  CHECK(flag);
  return check_done();
}
