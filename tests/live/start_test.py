"""How ranks come to be: all but the first ones are copies of a process from before its main(), which the
program must not notice; where that cannot be, each is started by itself."""

import pathlib

import harness_live
from harness_live import harness

OWN = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int constructed, signalled;
__attribute__((constructor)) static void construct(void) { ++constructed; }
static void note(int signal) { signalled = signal; }
static void *nothing(void *count) { return ++*(int *)count, count; }
int main(int argc, char **argv) {
  int rank, size, count = 0, wrong = 0;
  char line[64] = "nothing";
  pthread_t thread;
  pthread_mutexattr_t checks;
  pthread_mutex_t mutex;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int mine = getpid(), *all = malloc(size * sizeof(int));
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i)
    if (i != rank && all[i] == mine) wrong |= 1;
  /* What the C library knows of the thread: its number, which signals and locks go by. */
  if (gettid() != getpid()) wrong |= 2;
  signal(SIGUSR1, note);
  if (raise(SIGUSR1) != 0 || signalled != SIGUSR1) wrong |= 4;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutexattr_setrobust(&checks, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &checks);
  if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_lock(&mutex) != EDEADLK || pthread_mutex_unlock(&mutex) != 0)
    wrong |= 8;
  pthread_create(&thread, 0, nothing, &count);
  pthread_join(thread, 0);
  if (count != 1 || constructed != 1) wrong |= 16;
  for (char **entry = environ; *entry; ++entry)
    if (!strncmp(*entry, "FORETRACE_LIVE", 14)) wrong |= 32;
  if (!fgets(line, sizeof line, stdin)) strcpy(line, "none");
  line[strcspn(line, "\n")] = 0;
  char own[96], *lines = malloc(size * sizeof own);
  snprintf(own, sizeof own, "rank %d: wrong %d, input %s, word %s", rank, wrong, line, argv[argc - 1]);
  MPI_Gather(own, sizeof own, MPI_CHAR, lines, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) puts(lines + i * sizeof own);
  MPI_Finalize();
  return 0;
}
"""

# A library that starts a thread while the program is loaded.
BUSY = r"""
#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused) { for (;;) pause(); }
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, 0, rest, 0);
}
"""

THREADS = r"""
#include <mpi.h>
#include <dirent.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int threads = 0, all;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(tasks)); ) threads += entry->d_name[0] != '.';
  closedir(tasks);
  MPI_Init(&argc, &argv);
  MPI_Reduce(&threads, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("threads: %d\n", all);
  MPI_Finalize();
  return 0;
}
"""

WHERE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  printf("%p\n", (void *)&puts);
  MPI_Finalize();
  return 0;
}
"""

WHO = "#!/bin/sh\necho \"$$ ${FORETRACE_LIVE##*:}\" >> \"$1\"\nexec \"$2\"\n"


class Start(harness_live.TestCase):
    ranks = 12

    def test_each_rank_is_a_process_of_its_own(self):
        self.live(self.ranks, [self.compile(OWN), "last"], text_in="first line\nsecond line\n")
        self.assertEqual(harness_live.said(self.result),
                         [f"rank {rank}: wrong 0, input {'first line' if rank == 0 else 'none'}, word last"
                          for rank in range(self.ranks)])

    def test_threads_from_before_main_are_there(self):
        library = self.directory / "busy.so"
        source = self.write("busy.c", BUSY)
        self.ok(harness.run(["cc", "-shared", "-fPIC", source, "-o", library, "-lpthread"]))
        self.live(self.ranks, [self.compile(THREADS)], env={"LD_PRELOAD": str(library)})
        self.assertEqual(harness_live.said(self.result), ["threads: 2"])

    def test_a_script_is_run_once_for_each_rank(self):
        script = self.write("who.sh", WHO)
        script.chmod(0o755)
        notes = self.directory / "notes"
        self.live(self.ranks, [script, notes, self.compile(THREADS)], options=["--mpi", harness.mpi])
        processes, ranks = zip(*(line.split() for line in notes.read_text().splitlines()))
        self.assertEqual(sorted(map(int, ranks)), list(range(self.ranks)))
        self.assertEqual(len(set(processes)), self.ranks)

    def test_most_ranks_are_copies(self):
        """They have the addresses of their libraries in common, which else are random."""
        if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
            self.skipTest("addresses are not random here")
        self.live(40, [self.compile(WHERE)])
        self.assertLess(len(set(harness_live.said(self.result))), 20)


if __name__ == "__main__":
    harness.main()
