/* A program that makes children between its MPI calls; with "alone" it makes none.
 * Each child does one thing that children do, the last one calls MPI, which it may
 * not; with "sends", "waits", "meets" or "finalizes" there is one more. Prints lines
 * that do not depend on who watches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

/* Something that needs all ranks. */
static void work(int round) {
  int in = -1;
  const int out = rank + round;
  int sum = 0;
  const int before = (rank + size - 1) % size;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, round, &in, 1, MPI_INT, before, round,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (in != before + round || sum != size * (size - 1) / 2 + size * round) puts("wrong result");
}

static void exits(void) {
  exit(11);
}
static void leaves(void) {
  _exit(12);
}
static void becomes_another(void) {
  execl("/bin/sh", "sh", "-c", "exit 13", (char*)NULL);
}
static void starts_another(void) {
  char line[32] = "";
  FILE* pipe = popen("echo from a pipe", "r");
  if (!pipe || !fgets(line, sizeof line, pipe) || strcmp(line, "from a pipe\n") != 0) exit(1);
  exit(pclose(pipe) == 0 && WEXITSTATUS(system("exit 3")) == 3 ? 14 : 1);
}
/* More than a trace's first block has room for. */
static void calls_mpi(void) {
  for (int i = 0; i < 20000; ++i) {
    int its_rank = -1;
    int bytes = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &its_rank);
    MPI_Type_size(MPI_DOUBLE, &bytes);
    if (its_rank != rank || bytes != 8 || MPI_Wtime() < 0) _exit(1);
  }
  exit(15);
}

/* What needs the other ranks, or the rank. Ends with 16 if it came through. */
static void needs_others(const char* how) {
  int value = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(how, "sends") == 0) MPI_Send(&value, 1, MPI_INT, rank, 99, MPI_COMM_WORLD);
  if (strcmp(how, "waits") == 0) MPI_Irecv(&value, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &request);
  if (strcmp(how, "waits") == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (strcmp(how, "meets") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "finalizes") == 0) MPI_Finalize();
  exit(16);
}

int main(int argc, char** argv) {
  void (*const children[])(void) = {exits, leaves, becomes_another, starts_another, calls_mpi};
  const int count = (int)(sizeof children / sizeof *children);
  const int alone = argc > 1 && strcmp(argv[1], "alone") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < count; ++i) {
    work(i);
    if (alone) continue;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      children[i]();
      _exit(1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 11 + i)
      printf("child %d ended with status %d\n", i, status);
  }
  const pid_t last = argc > 1 && !alone ? fork() : 0;
  if (last == 0 && argc > 1 && !alone) needs_others(argv[1]);
  int ended = 0;
  if (last > 0 && waitpid(last, &ended, 0) == last && WIFEXITED(ended) && rank == 0)
    printf("the child that %s ended with status %d\n", argv[1], WEXITSTATUS(ended));
  FILE* pipe = alone ? NULL : popen("exit 4", "r");
  if (pipe && WEXITSTATUS(pclose(pipe)) != 4) puts("wrong status of a pipe");
  work(count);
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}
