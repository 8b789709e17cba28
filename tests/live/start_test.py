"""How ranks come to be: all but the first ones are copies of a process from before its main(), which the
program must not notice; where that cannot be, each is started by itself."""

import json
import pathlib
import re

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

# Ranks that wait for each other all the time are put on one core; what they start is not.
CORES = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int cores(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}
static void *look(void *count) { return *(int *)count = cores(), count; }
int main(int argc, char **argv) {
  int rank, before, together = 0, status, mine, all;
  pthread_t thread;
  MPI_Comm parent, child;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    mine = cores();
    MPI_Send(&mine, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  before = cores();
  for (int i = 0; i < 100 && !together; ++i) {
    for (int k = 0; k < 500; ++k) MPI_Barrier(MPI_COMM_WORLD);
    mine = cores() < before;
    MPI_Allreduce(&mine, &together, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  pid_t copy = fork();
  if (copy == 0) _exit(cores());
  waitpid(copy, &status, 0);
  mine = before - WEXITSTATUS(status);
  if (rank != 1) {
    pthread_create(&thread, 0, look, &status);
    pthread_join(thread, 0);
    mine += before - status + before - cores();
  }
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    MPI_Recv(&status, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    mine += before - status;
  }
  MPI_Comm_disconnect(&child);
  MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s, missing: %d\n", together || before == 1 ? "together" : "apart", all);
  MPI_Finalize();
  if (rank == 1) printf("missing at the end: %d\n", before - cores());
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

# What a launcher's variables say, in main's third argument, when MPI begins, and for scripts;
# beside what MPI says.
VARIABLES = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *const names[] = {RANK, SIZE, LOCAL_RANK, LOCAL_SIZE};
int main(int argc, char **argv, char **environment) {
  int said[4], wrong = 0, mine[4];
  for (int i = 0; i < 4; ++i) {
    said[i] = atoi(getenv(names[i]));
    int found = 0;
    for (char **entry = environment; *entry; ++entry)
      if (strlen(names[i]) < strlen(*entry) && (*entry)[strlen(names[i])] == '=' &&
          strncmp(*entry, names[i], strlen(names[i])) == 0)
        ++found, wrong |= atoi(strchr(*entry, '=') + 1) != said[i];
    wrong |= found != 1;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm node, parent;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine[0]);
  MPI_Comm_size(MPI_COMM_WORLD, &mine[1]);
  MPI_Comm_rank(node, &mine[2]);
  MPI_Comm_size(node, &mine[3]);
  MPI_Comm_free(&node);
  for (int i = 0; i < 4; ++i) wrong |= mine[i] != said[i];
  printf("%d of %d, %d of %d here%s\n", said[0], said[1], said[2], said[3], wrong ? ": wrong" : "");
  fflush(stdout);
  if (argc > 1 && parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}
"""
NAMES = {"openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                     "OMPI_COMM_WORLD_LOCAL_SIZE"),
         "mpich": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")}

WHO = "#!/bin/sh\necho \"$$ ${FORETRACE_LIVE##*:}\" >> \"$1\"\nexec \"$2\"\n"


class Start(harness_live.TestCase):
    ranks = 12

    def test_each_rank_is_a_process_of_its_own(self):
        self.live(self.ranks, [self.compile(OWN), "last"], text_in="first line\nsecond line\n")
        self.assertEqual(harness_live.said(self.result),
                         [f"rank {rank}: wrong 0, input {'first line' if rank == 0 else 'none'}, word last"
                          for rank in range(self.ranks)])

    def test_closed_standard_streams(self):
        """No file of the run gets their numbers, as that of the way to the simulator."""
        program = self.compile(OWN)
        for closed in ("<&-", "2>&-", "<&- 2>&-"):
            with self.subTest(closed=closed):
                result = self.ok(harness.run(
                    ["sh", "-c", f'exec "$@" {closed}', "sh", harness.tool(), "simulate", "-n", 3, "--machine",
                     harness.T3D, "--compute", "none", "--", program, "last"]))
                self.assertEqual(harness_live.said(result),
                                 [f"rank {rank}: wrong 0, input none, word last" for rank in range(3)])

    def test_threads_from_before_main_are_there(self):
        library = self.directory / "busy.so"
        source = self.write("busy.c", BUSY)
        self.ok(harness.run(["cc", "-shared", "-fPIC", source, "-o", library, "-lpthread"]))
        self.live(self.ranks, [self.compile(THREADS)], env={"LD_PRELOAD": str(library)})
        self.assertEqual(harness_live.said(self.result), ["threads: 2"])

    def variables(self):
        """The program that compares them, and what it says of itself."""
        text = VARIABLES
        for word, name in zip(("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"), NAMES[harness.mpi]):
            text = re.sub(rf"([{{ ]){word}([,}}])", rf'\1"{name}"\2', text)
        return self.compile(text)

    def test_the_launchers_variables(self):
        """As the real launcher sets them, before main() and whatever was there before."""
        # A launcher of one process: several would each simulate all, which is refused.
        stale = {name: "1" if name.endswith(("SIZE", "NRANKS")) else "77" for names in NAMES.values() for name in names}
        self.live(self.ranks, [self.variables()], env=stale)
        self.assertEqual(sorted(harness_live.said(self.result)),
                         sorted(f"{rank} of 12, {rank} of 12 here" for rank in range(self.ranks)))

    def test_the_launchers_variables_by_node(self):
        self.live(8, [self.variables()], options=["--network", "hops", "--topology", "ring:4?ranks_per_node=2",
                                                  "--placement", "round-robin"])
        self.assertEqual(sorted(harness_live.said(self.result)),
                         sorted(f"{rank} of 8, {rank // 4} of 2 here" for rank in range(8)))

    def test_the_launchers_variables_of_children(self):
        self.live(2, [self.variables(), "spawn"], options=["--spawn", 2])
        self.assertEqual(sorted(harness_live.said(self.result)),
                         ["0 of 2, 0 of 2 here"] * 2 + ["1 of 2, 1 of 2 here"] * 2)

    def test_those_that_a_rank_starts_begin_when_it_does(self):
        """After what it computed before, in steps of 1 us; the other ranks may come later."""
        program = self.compile("""
#include <foretrace.h>
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Comm parent, other;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FORETRACE_COMPUTE(parent == MPI_COMM_NULL ? 100 + 700 * rank : 30);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&other);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  return 0;
}
""")
        ranks = self.events(self.live(2, [program], options=["--spawn", 2]))
        asked = next(fields["leave"] for _, name, fields in ranks[0] if name == "MPI_Comm_spawn")
        self.assertEqual(asked, 100_000_000)
        for child in ranks[2:]:
            self.assertEqual(child[0][2]["enter"], asked)
            self.assertEqual([fields["enter"] for _, name, fields in child if name == "MPI_Barrier"],
                             [asked + 30_000_000])

    def test_all_ranks_learn_why_nobody_was_started(self):
        """Whichever of them says it: here the one that is not the root."""
        program = self.compile("""
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Comm other;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
  MPI_Finalize();
  return 0;
}
""")
        result = harness.run(self.live_command(2, [program]))
        self.assertIn("rank 1: MPI_Comm_spawn: MPI_ERR_SPAWN: no room for 2 processes; give simulate the option --spawn N",
                      result.err)

    def test_places_that_nobody_takes(self):
        """They count nowhere: two ranks start two more, and there is room for six."""
        command = [self.variables(), "spawn"]
        places = ["--spawn", 6, "--network", "loggps", "--ranks-per-node", 3]
        trace = self.live(2, command, options=places)
        self.assertIn(" on 4 ranks of ", self.result.out)
        report = self.report(trace)
        self.assertEqual((report["ranks"], len(self.events(trace))), (4, 4))
        again = self.foretrace("simulate", trace, "--machine", harness.T3D, "--compute", "annotated")
        self.assertNotIn("no virtual time", again.err)
        self.assertIn(" on 4 ranks of ", again.out)
        result = self.ok(harness.run(self.live_command(2, command, options=[*places, "--json"]),
                                     cwd=self.directory))
        self.assertEqual(json.loads(result.out)["ranks"], 4)
        self.assertEqual(len(self.events(trace)), 4)

    def test_one_node_for_each_rank(self):
        """Who alone has a node of the topology shares its memory with nobody; who has none, with all."""
        one = ["--network", "hops", "--topology", "ring:4"]
        for options, expected in ((one, "0 of 1 here"), ([*one, "--placement", "round-robin"], "0 of 1 here"),
                                  (["--network", "loggps", "--ranks-per-node", 1], "0 of 1 here"),
                                  ([], "{0} of 4 here")):
            with self.subTest(options=options):
                self.live(4, [self.variables()], options=options)
                self.assertEqual(sorted(harness_live.said(self.result)),
                                 [f"{rank} of 4, " + expected.format(rank) for rank in range(4)])

    def test_memory_is_shared_on_one_node_alone(self):
        program = self.compile("""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Win win;
  void *memory;
  int rank, code;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  if (argc > 1) MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  code = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, &memory, &win);
  if (code == MPI_SUCCESS) MPI_Win_free(&win);
  else MPI_Error_class(code, &code);
  printf("%d: %s\\n", rank, code == MPI_SUCCESS ? "shared" : code == MPI_ERR_RMA_SHARED ? "not" : "?");
  MPI_Finalize();
  return 0;
}
""")
        two = ["--network", "loggps", "--ranks-per-node", 2]
        for options, words, expected in (([], [], "shared"), (two, [], "not"), (two, ["split"], "shared")):
            with self.subTest(options=options, words=words):
                self.live(4, [program, *words], options=options)
                self.assertEqual(sorted(harness_live.said(self.result)), [f"{rank}: {expected}" for rank in range(4)])

    def test_a_script_sees_the_launchers_variables(self):
        name = NAMES[harness.mpi][2]
        script = self.write("local.sh", f'#!/bin/sh\necho "local ${name}"\nexec "$1"\n')
        script.chmod(0o755)
        self.live(3, [script, self.compile(THREADS)], options=["--mpi", harness.mpi])
        self.assertEqual(sorted(line for line in harness_live.said(self.result) if "local" in line),
                         ["local 0", "local 1", "local 2"])

    def test_scripts_of_bash(self):
        """A shell with a setenv() of its own; it becomes the program, or starts it."""
        for last in ('exec "$1"', '"$1"; echo after'):
            script = self.write("own.sh", f'#!/bin/bash\necho before\n{last}\n')
            script.chmod(0o755)
            for _ in range(4):
                self.live(3, [script, self.compile(THREADS)], options=["--mpi", harness.mpi])
                said = harness_live.said(self.result)
                self.assertEqual(said.count("before"), 3)
                self.assertEqual(said.count("after"), 3 if "after" in last else 0)

    def test_a_script_is_run_once_for_each_rank(self):
        script = self.write("who.sh", WHO)
        script.chmod(0o755)
        notes = self.directory / "notes"
        self.live(self.ranks, [script, notes, self.compile(THREADS)], options=["--mpi", harness.mpi])
        processes, ranks = zip(*(line.split() for line in notes.read_text().splitlines()))
        self.assertEqual(sorted(map(int, ranks)), list(range(self.ranks)))
        self.assertEqual(len(set(processes)), self.ranks)

    def test_what_ranks_on_one_core_start_has_all(self):
        self.live(4, [self.compile(CORES)], options=["--spawn", 1])
        self.assertIn("together, missing: 0\n", self.result.out)
        self.assertIn("missing at the end: 0\n", self.result.out)

    def test_json_is_all_of_standard_output(self):
        command = self.live_command(3, [self.compile(WHERE)], options=["--json"])
        result = self.ok(harness.run(command, cwd=self.directory))
        self.assertEqual(json.loads(result.out)["ranks"], 3)
        self.assertGreaterEqual(len(result.err.splitlines()), 3)

    def test_most_ranks_are_copies(self):
        """They have the addresses of their libraries in common, which else are random."""
        if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
            self.skipTest("addresses are not random here")
        self.live(40, [self.compile(WHERE)])
        self.assertLess(len(set(harness_live.said(self.result))), 20)


if __name__ == "__main__":
    harness.main()
