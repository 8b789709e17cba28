/* Ranks are processes: globals, statics, the environment, the working directory, signals and
 * files of one are nobody else's. The directory and the input are those of the caller.
 * live: ranks 1 2 8
 * live: compare */
#include <signal.h>
#include <unistd.h>

#include "check.h"

static int global = 3;
static int count(void) {
  static int calls;
  return ++calls;
}
static volatile sig_atomic_t signals;
static void on_signal(int number) {
  (void)number;
  ++signals;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  global += check_rank;
  for (int i = 0; i < check_rank; ++i) count();
  char value[20];
  snprintf(value, sizeof value, "%d", check_rank);
  setenv("TESTS_LIVE_RANK", value, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(global, 3 + check_rank);
  CHECK_EQUAL(count(), check_rank + 1);
  CHECK(!strcmp(getenv("TESTS_LIVE_RANK"), value));
  signal(SIGUSR1, on_signal);
  if (check_rank == check_size - 1) raise(SIGUSR1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(signals, check_rank == check_size - 1);
  int pid = (int)getpid(), same = 0;
  int* pids = malloc(sizeof(int) * (size_t)check_size);
  MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < check_size; ++i) same += pids[i] == pid;
  CHECK_EQUAL(same, 1);
  free(pids);
  printf("rank %d says hello\n", check_rank);
  fflush(stdout);
  return check_end();
}
