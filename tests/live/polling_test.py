"""Programs that wait by looking again and again: they must not look as often as virtual time would let them."""

import re
import resource

import harness_live
from harness_live import harness

# Two ranks hand a large message to and fro; each has a second thread, which sleeps. On a busy machine it may take
# long until that is so, and meanwhile each wait looks for itself.
SLEEPER = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int thread_id;
static void *rest(void *unused) { return thread_id = gettid(), pause(), unused; }
static int sleeps(void) {
  char name[64], line[64] = "";
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread_id);
  FILE *file = fopen(name, "r");
  if (file) fgets(line, sizeof line, file), fclose(file);
  return strstr(line, ") S") != NULL;
}
int main(int argc, char **argv) {
  enum { BYTES = 1 << 20 };
  int provided, rank;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, 0, rest, 0);
  while (!sleeps()) usleep(1000);
  char *data = malloc(BYTES);
  for (int i = 0; i < 6; ++i)
    if (i % 2 == rank) MPI_Send(data, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    else MPI_Recv(data, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


# Rank 0 looks for a message every 10 us. On the T3D: Irecv takes 30 us, a look in vain 0.1 us. The
# message was sent at 0 us and is there at 30 + 40 us, so that the looks at 40, 50.1 and 60.2 us are
# in vain. That at 70.3 us is not, and takes 40 - 0.62 us (irecv2 - irecvoverlap): 109.68 us in all.
COMPUTES = r"""
#include <foretrace.h>
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, flag = 0;
  double word = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Irecv(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  while (rank == 0 && !flag) {
    FORETRACE_COMPUTE(10);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


# Rank 0 receives what rank 1 sends late, and waits for it as it is told: "w" in a wait, "t" in a loop of tests, "c" in
# one that looks at the clock.
LOOPS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  enum { MOST = 100000 };
  static char data[2][MOST];
  const int bytes = atoi(argv[2]);
  int rank, flag = 0, one;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; ++i) {
    if (rank == 1) FORETRACE_COMPUTE(100);
    if (rank == 1) MPI_Send(data[i], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    else MPI_Irecv(data[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
  }
  if (rank == 0) {
    if (argv[1][0] == 'w') MPI_Waitany(2, requests, &one, MPI_STATUS_IGNORE);
    else while (!flag && (argv[1][0] == 't' || MPI_Wtime() < 60)) MPI_Testany(2, requests, &one, &flag, MPI_STATUS_IGNORE);
    flag = 0;
    if (argv[1][0] == 'w') MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else while (!flag && (argv[1][0] == 't' || MPI_Wtime() < 60)) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


# Rank 1 is killed after tests of which it knows that they are in vain.
KILLED = r"""
#include <mpi.h>
#include <signal.h>
int main(int argc, char **argv) {
  int rank, in;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 4; ++round) {
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    for (int flag = 0, tests = 0; !flag; ++tests) {
      if (round == 3 && rank == 1 && tests == 6) raise(SIGKILL);
      MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
"""


# The library tells of the new communicator by messages of its own, whose size the receiver does not know.
OWN_MESSAGES = r"""
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused) { return pause(), unused; }
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  pthread_create(&thread, 0, rest, 0);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
  MPI_Barrier(comm);
  MPI_Finalize();
  return 0;
}
"""


# Rank 1 looks a hundred times before it sends what rank 0 looks for, which computes in between and so
# never looks for long. On the T3D a look in vain takes 0.1 us. Rank 1's first eight take no longer. By
# then 0.7 us have passed since the end of the first, and those that follow wait for as long as has passed
# since, 0.7, 1.4, ..., 358.4 and 716.8 us for the 19th, but for no more than 40 us for each look before:
# 760, 800, ..., 3,960 us from the 20th on. That is 0.1 + 1,433.6 + 191,160 us, and the clock takes 6.6 ns.
COUNTS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, flag = 0;
  double in, out = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&in, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    const double start = MPI_Wtime();
    for (int i = 0; i < 100; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    printf("%.4f us\n", 1e6 * (MPI_Wtime() - start));
  }
  while (rank == 0 && !flag) {
    FORETRACE_COMPUTE(3);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Send(&out, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


# Reads the clock so often; or waits for it, so many microseconds, and says how long that took.
CLOCK = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const double start = MPI_Wtime();
  if (argc > 2) while (1e6 * (MPI_Wtime() - start) < atof(argv[2]));
  else for (long i = 0; i < atol(argv[1]); ++i) MPI_Wtime();
  printf("%.4f us, ticks of %.2g s\n", 1e6 * (MPI_Wtime() - start), MPI_Wtick());
  MPI_Finalize();
  return 0;
}
"""

# Collectives only, on ranks that come at different times; with a second thread if it is asked for.
COLLECTIVES = r"""
#include <foretrace.h>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused) { return pause(), unused; }
int main(int argc, char **argv) {
  int provided, rank;
  double in[100] = {0}, out[100];
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, 0, rest, 0);
  for (int i = 0; i < 5; ++i) {
    FORETRACE_COMPUTE(70 * (rank ^ i));
    MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    FORETRACE_COMPUTE(30 * rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(in, 100, MPI_DOUBLE, i % 3, MPI_COMM_WORLD);
    MPI_Reduce(in, out, 100, MPI_DOUBLE, MPI_SUM, i % 3, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


# Rank 0 looks so often for what never comes, then computes; so many times. Rank 1 computes for longer.
GIVES_UP = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < atoi(argv[1]); ++round) {
    for (int i = 0; rank == 0 && i < atoi(argv[2]); ++i) MPI_Iprobe(1, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    FORETRACE_COMPUTE(rank == 0 ? 3000 : 300000);
  }
  MPI_Finalize();
  return 0;
}
"""


# Rank 0 waits for 50 ms while another thread of it computes, which makes no calls.
BESIDE_A_THREAD = r"""
#include <foretrace.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
static volatile int over;
static void *compute(void *none) {
  while (!over) {}
  return none;
}
int main(int argc, char **argv) {
  int rank, level, word = 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    FORETRACE_COMPUTE(50000);
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    pthread_create(&thread, NULL, compute, NULL);
    MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    over = 1;
    pthread_join(thread, NULL);
  }
  MPI_Finalize();
  return 0;
}
"""


# Rank 0 posts each receive when its message has been there for long, and looks once.
LATE_RECEIVE = r"""
#include <mpi.h>
#include <foretrace.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, flag, found = 0;
  double data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) {
    if (rank == 1) MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    FORETRACE_COMPUTE(1000);
    if (rank != 0) continue;
    MPI_Request request;
    MPI_Irecv(&data, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    found += flag;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 0) printf("found %d of 10\n", found);
  return MPI_Finalize();
}
"""


class Polling(harness_live.TestCase):
    def operations(self, command):
        """How many the engine had to take up."""
        result = self.ok(harness.run(self.live_command(2, command, compute="none", options=["--stats"])))
        return int(re.search(r"replayed (\d+) operations", result.out + result.err).group(1))

    def test_other_thread_sleeps(self):
        program = self.compile(SLEEPER)
        self.assertLess(self.operations([program, "multiple"]), 100 * self.operations([program]))

    def test_a_look_of_a_waiting_call_does_not_take_the_calls_time(self):
        """A collective ends when it does on ranks of one thread: looks of an allreduce are no allreduces."""
        program = self.compile(COLLECTIVES)
        times = []
        for words in ([], ["multiple"]):
            report = self.report(self.live(3, [program, *words]))
            times.append([rank["time"] for rank in report["per_rank"]])
        self.assertEqual(times[0], times[1])

    def test_sizes_that_no_message_has(self):
        """What messages take at least is asked for all sizes, what their receives may hold is any: neither is
        told as extrapolated, or takes time. Posting a receive takes 30 us and 1 us for each 8 bytes here."""
        text = harness.T3D.read_text()
        before, name, rest = text.partition('name = "irecv1"')
        own, separator, after = rest.partition("[[function]]")
        own = re.sub(r"\[\[function\.regime\]\].*", "[[function.regime]]\nbytes = [0]\nc = 30\nk = 1\ng = \"d\"\n\n", own, flags=re.S)
        machine = self.write("m.toml", before + name + own + separator + after)
        program = self.compile(OWN_MESSAGES)
        self.live(2, [program], machine=machine)
        self.assertNotIn("extrapolated", self.result.err)
        self.assertLess(float(re.search(r"predicted time (\S+) s", self.result.out).group(1)), 0.001)

    def test_looks_in_vain_take_their_time(self):
        program = self.compile(COMPUTES)
        for ahead in ("on", "off"):
            self.live(2, [program], env={"FORETRACE_LIVE_AHEAD": ahead})
            self.assertIn("predicted time 0.00010968 s", self.result.out)

    def test_a_loop_of_tests_ends_when_a_wait_would(self):
        program = self.compile(LOOPS)
        for machine in (harness.T3D, harness.MACHINES / "sparc-ethernet.toml"):
            for size in (8, 8000, 100000):
                with self.subTest(machine=machine, size=size):
                    times = [self.report(self.live(2, [program, how, size], machine=machine))["per_rank"][0]["time"] for how in "wtc"]
                    self.assertEqual(times[0], times[1])
                    # Each reading of the clock takes some time.
                    self.assertGreaterEqual(times[2], times[0])
                    self.assertLess(times[2], times[0] + 40e-6)

    def test_looks_that_are_given_up(self):
        """100 looks of 0.1 us each, then 3 ms: only the first time they take longer, since they might have been
        a wait; with that it is told."""
        program = self.compile(GIVES_UP)
        times = []
        for rounds in (1, 2, 12):
            trace = self.live(2, [program, rounds, 100])
            self.assertIn("rank 0 looked for messages in vain", self.result.err)
            times.append(self.report(trace)["per_rank"][0]["time"])
        self.assertAlmostEqual(times[1] - times[0], 0.00301, places=9)
        self.assertAlmostEqual(times[2] - times[1], 0.0301, places=9)
        self.live(2, [program, 12, 8])
        self.assertNotIn("in vain", self.result.err)

    def test_looks_in_vain_come_to_an_end(self):
        program = self.compile(COUNTS)
        for ahead in ("on", "off"):
            self.live(2, [program], limit=20, env={"FORETRACE_LIVE_AHEAD": ahead})
            self.assertEqual(harness_live.said(self.result), ["192593.7066 us"])

    def test_a_wait_beside_a_thread_that_runs(self):
        """The thread may call at any time, so that the wait is of looks, but of few. They end by what it may be late
        for: 10 us."""
        program = self.compile(BESIDE_A_THREAD)
        waits, _ = self.events(self.live(2, [program], limit=120))
        self.assertLess(len(waits), 10_000)
        end = waits[-1][2]["leave"]
        self.assertGreater(end, 50_000_000_000)
        self.assertLess(end, 50_200_000_000)

    def test_readings_of_the_clock_take_their_time(self):
        """As programs time what they do: 6.6 ns each on the T3D, and one more at the end."""
        program = self.compile(CLOCK)
        self.live(1, [program, 90000], compute="none", limit=20)
        self.assertEqual(harness_live.said(self.result), ["594.0066 us, ticks of 6.6e-09 s"])

    def test_a_wait_for_the_clock_comes_to_an_end(self):
        """An hour is five hundred thousand million readings."""
        program = self.compile(CLOCK)
        for wait in (1e6, 3.6e9):
            self.live(1, [program, "until", wait], compute="none", limit=90)
            took = float(harness_live.said(self.result)[0].split()[0])
            self.assertGreaterEqual(took, wait)
            self.assertLess(took, wait * 1.0001)

    def test_tests_before_a_sudden_end(self):
        program = self.compile(KILLED)
        runs = []
        for ahead in ("off", "on", "on"):
            trace = self.live(2, [program], compute="none", status=137, name=f"{ahead}.ftr",
                              env={"FORETRACE_LIVE_AHEAD": ahead})
            self.foretrace("convert", trace, trace.with_suffix(".txt"), "--to", "text")
            lines = trace.with_suffix(".txt").read_text().splitlines()
            # Whether rank 0 was in its next call already depends on real time.
            runs.append([line for line in lines if not line.startswith("in ")])
        self.assertIn("aborted", "".join(runs[0]))
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[1], runs[2])

    def test_known_tests_ask_nobody(self):
        """Where messages carry their time, a rank asks for few of its tests; each that asks costs two
        switches between processes or more."""
        program = self.compile((harness.SOURCE / "bench/capture/polling.c").read_text(), "bench")
        rounds = 500
        for pattern in ("tests", "overlap"):
            with self.subTest(pattern=pattern):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
                self.live(4, [program, pattern, rounds], compute="none")
                switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
                self.assertLess(switches, 4 * 4 * rounds)

    def test_of_a_receive_that_is_posted_late(self):
        """What came from anybody long before is there for a test at the very time of posting."""
        program = self.compile(LATE_RECEIVE)
        machine = self.write("long.toml", "[machine]\nranks = 2\n[compute]\nstep = 1e-6\n"
                                          "[[function]]\nname = 'recv'\n[[function.regime]]\nc = 1e-4\n"
                                          "[[function]]\nname = 'test'\n[[function.regime]]\nc = 2e-6\n")
        for ahead in ("off", "on"):
            result = self.ok(harness.run(self.live_command(2, [program], machine),
                                         env={"FORETRACE_LIVE_AHEAD": ahead}))
            self.assertIn("found 10 of 10", result.out)

    def test_same_as_if_each_look_asked(self):
        source = (harness.SOURCE / "bench/capture/polling.c").read_text()
        program = self.compile(source, "bench")
        for pattern, items in (("active", 300), ("probes", 300), ("search", 100), ("tests", 40),
                               ("overlap", 40), ("some", 100)):
            with self.subTest(pattern=pattern):
                traces = [self.live(4, [program, pattern, items], compute="none", name=f"{ahead}.ftr",
                                    env={"FORETRACE_LIVE_AHEAD": ahead}).read_bytes()
                          for ahead in ("off", "on", "on")]
                self.assertEqual(traces[0], traces[1])
                self.assertEqual(traces[1], traces[2])


if __name__ == "__main__":
    harness.main()
