/* A program that does what real programs do around MPI: one way an argument.
 * Prints lines that do not depend on who watches. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void say(const char* text) {
  if (rank == 0) {
    puts(text);
    fflush(stdout);
  }
}

/* Something that needs all ranks. */
static void work(void) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size - 1) / 2) say("wrong sum");
}

static void begin(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Children that run another program, or this one's code without MPI. */
static void forks(void) {
  begin();
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
      if (i == 0) execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
      _exit(8);
    }
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 7 + i) say("a child failed");
  }
  if (rank == 0) fflush(stdout);
  if (rank == 0 && system("echo from a shell") != 0) say("the shell failed");
  work();
  MPI_Finalize();
}

static void finalize_at_exit(void) {
  work();
  MPI_Finalize();
  say("finalised at exit");
}

static void* several(void* thread) {
  for (int i = 0; i < 50; ++i) {
    int in = -1, out = i;
    const int tag = 100 + (int)(size_t)thread;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT, (rank + size - 1) % size,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != i) say("wrong message");
  }
  return NULL;
}

static void threads(void) {
  int provided = 0;
  pthread_t other[3];
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided == MPI_THREAD_MULTIPLE) {
    for (size_t i = 0; i < 3; ++i) pthread_create(&other[i], NULL, several, (void*)(i + 1));
    several(NULL);
    for (int i = 0; i < 3; ++i) pthread_join(other[i], NULL);
  }
  work();
  MPI_Finalize();
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "forks") == 0) {
    forks();
  } else if (strcmp(way, "at_exit") == 0) {
    begin();
    atexit(finalize_at_exit);
  } else if (strcmp(way, "threads") == 0) {
    threads();
  } else if (strcmp(way, "execs") == 0) {
    /* Becomes itself once more before MPI. */
    execl(argv[0], argv[0], "plain", (char*)NULL);
  } else if (strcmp(way, "plain") == 0) {
    begin();
    work();
    MPI_Finalize();
  } else if (strcmp(way, "never") == 0) {
    int flag = 1;
    MPI_Initialized(&flag);
    puts(flag ? "initialised" : "not initialised");
    return 0;
  }
  say("done");
  return 0;
}
