"""The computer's clocks (gettimeofday, clock_gettime, std::chrono, ...) as a program sees them in virtual time."""

import os
import re
import subprocess

import harness

# A step takes 1 us, a reading of MPI_Wtime 200 ns, all else nothing.
MACHINE = """
[machine]
ranks = 2
timer_resolution = 2e-7
[compute]
step = 1e-6
[[function]]
name = "send"
[[function.regime]]
c = 0
"""

# So that looks move the clock: 200 ns.
TEST = """
[[function]]
name = "test"
[[function.regime]]
c = 2e-7
"""

SHOWN = r"""
#include <foretrace.h>
#include <mpi.h>
#include <sys/time.h>
#include <chrono>
#include <cstdio>
#include <ctime>
static long long read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
static long long day() {
  timeval now;
  gettimeofday(&now, nullptr);
  return now.tv_sec * 1000000LL + now.tv_usec;
}
int main(int argc, char **argv) {
  const long long start = read(CLOCK_MONOTONIC);
  int rank, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double wtime = MPI_Wtime();
  const long long clocks[] = {read(CLOCK_REALTIME), read(CLOCK_MONOTONIC), day(), read(CLOCK_PROCESS_CPUTIME_ID)};
  const auto steady = std::chrono::steady_clock::now();
  const time_t seconds = time(nullptr);
  FORETRACE_COMPUTE(3000000);
  const long long half = read(CLOCK_MONOTONIC) - clocks[1];
  if (rank == 0) MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  FORETRACE_COMPUTE(3000000);
  if (rank == 1) MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  const long long passed = (std::chrono::steady_clock::now() - steady).count();
  if (rank == 0) {
    std::printf("half %lld\n", half);
    std::printf("realtime %lld\n", read(CLOCK_REALTIME) - clocks[0]);
    std::printf("monotonic %lld\n", read(CLOCK_MONOTONIC) - clocks[1]);
    std::printf("day %lld\n", day() - clocks[2]);
    std::printf("steady %lld\n", passed);
    std::printf("seconds %lld\n", (long long)(time(nullptr) - seconds));
    std::printf("wtime %.9f\n", MPI_Wtime() - wtime);
    std::printf("cpu %d\n", read(CLOCK_PROCESS_CPUTIME_ID) - clocks[3] > 3000000000LL);
  }
  MPI_Finalize();
  if (rank == 0) std::printf("whole %d\n", read(CLOCK_MONOTONIC) - start >= 9000000000LL);
}
"""

SECONDS = r"""
#include <stddef.h>
#include <sys/time.h>
static double seconds(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + 1e-6 * now.tv_usec;
}
"""

# Rank 0 waits until the clock says that 50 ms have passed; and looks for what nobody sends meanwhile.
WAITS = SECONDS + r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, there, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const double begin = seconds();
    while (seconds() - begin < 0.05)
      if (argc > 1) MPI_Iprobe(1, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""

# Rank 0 polls, with a limit of time, for what rank 1 sends when it has computed for 1 ms. "spins": the limit is
# 20 ms, and the message comes after 60; "late": by real time as well; "sleeps": the same, and rank 0 sleeps between
# its looks; "works": it works there; "wtime" by another clock; how much longer it all is.
LIMIT = SECONDS + r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, there = 0, data = 0;
  const int longer = argc > 3 ? atoi(argv[3]) : 1;
  const double limit = argc > 1 ? 0.02 * longer : 1000;
  double (*const now)(void) = argc > 2 && argv[2][0] == 'w' ? MPI_Wtime : seconds;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    const double begin = now();
    while (!there && now() - begin < limit) {
      MPI_Test(&request, &there, MPI_STATUS_IGNORE);
      if (argc > 1 && argv[1][1] == 'l') usleep(1000);
      for (volatile int k = 0; argc > 1 && argv[1][1] == 'o' && k < 200000; ++k) {}
    }
    printf("%s\n", there ? "came" : "too late");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (argc > 1 && argv[1][1] != 'p') usleep(60000 * longer);
    else FORETRACE_COMPUTE(argc > 1 ? 60000.0 * longer : 1000);
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

# 300 times 50 us of computation in a phase.
PHASES = r"""
#include <foretrace.h>
#include <mpi.h>
#include <time.h>
int main(int argc, char **argv) {
  volatile double sum = 0;
  double all;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 300; ++i) {
    FORETRACE_PHASE_BEGIN("work");
    const clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 20000) sum += 1;
    FORETRACE_PHASE_END("work");
    double mine = sum;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

# Notes the time 6,000 times, between pieces of work that take no time with --compute none.
LOGS = r"""
#include <mpi.h>
#include <time.h>
int main(int argc, char **argv) {
  static struct timespec log[6000];
  volatile double sum = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 6000; ++i) {
    for (int k = 0; k < 2000; ++k) sum += k;
    clock_gettime(CLOCK_MONOTONIC, &log[i]);
  }
  MPI_Finalize();
  return 0;
}
"""

PYTHON = """
import time

from mpi4py import MPI
begin = time.time(), time.perf_counter(), time.monotonic()
time.sleep(0.5)  # counts as computation, so `--compute measured:0.001` makes it 0.5 ms
ends = time.time(), time.perf_counter(), time.monotonic()
if MPI.COMM_WORLD.rank == 0:
    print(*(f"{end - start:.2f}" for start, end in zip(begin, ends)))
"""


class ProgramClock(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.machine = self.write("machine.toml", MACHINE)

    def compiled(self, text, name):
        source, program = self.write(name, text), self.directory / name.split(".")[0]
        compiler = "mpicxx" if name.endswith("cpp") else "mpicc"
        self.ok(harness.run([f"{compiler}.{harness.mpi}", "-O1", f"-I{harness.SOURCE / 'include'}", source, "-o", program]))
        return program

    def live(self, command, compute, options=()):
        trace = self.directory / "live.ftr"
        self.result = self.foretrace("simulate", "-n", 2, "--mpi", harness.mpi, "--machine", self.machine, "--compute",
                                     compute, *options, "-o", trace, "--", *command)
        return trace

    def both(self, command, compute):
        """The program's output and the trace, by predict and live."""
        yield "predict", self.predict(2, command, self.machine, compute=compute, options=["--mpi", harness.mpi])
        yield "live", self.live(command, compute)

    def test_what_clocks_show(self):
        """Rank 0 computes 3 s, and waits until rank 1 has computed 6; then it computes 3 s more."""
        program = self.compiled(SHOWN, "shown.cpp")
        for way, trace in self.both([program], "annotated"):
            with self.subTest(way=way):
                shown = dict(line.split() for line in self.result.out.splitlines() if re.match(r"\w+ [0-9.]+$", line))
                self.assertEqual(shown, {
                    "half": "3000000000", "realtime": "9000000000", "monotonic": "9000000000", "day": "9000000",
                    "steady": "9000000000", "seconds": "9", "wtime": "9.000000200", "cpu": "0", "whole": "1"})
        # Nothing of that is in a trace, and it takes no time.
        recorded = self.simulate(self.record(2, [program]), self.machine)
        for name in "predict.ftr", "live.ftr":
            self.assert_same_ticks(recorded, self.directory / name)

    def test_what_we_read_is_real(self):
        """Marks are no calls: the time of a phase is measured by real clocks nevertheless."""
        program = self.compiled(PHASES, "phases.c")
        for way, trace in self.both([program], "measured"):
            with self.subTest(way=way):
                end = self.events(trace)[0][-1][2]["enter"]
                self.assertGreater(end, 14_000_000_000)
                self.assertLess(end, 100_000_000_000)

    def test_real(self):
        """--wtime real is for these clocks as well."""
        program = self.compiled(SHOWN, "shown.cpp")
        for run in (lambda: self.predict(2, [program], self.machine, options=["--wtime", "real"]),
                    lambda: self.live([program], "annotated", options=["--wtime", "real"])):
            run()
            half = int(re.search(r"half (\d+)", self.result.out).group(1))
            self.assertLess(half, 1_000_000_000)

    def test_waiting_for_the_clock(self):
        """Nothing that the program does takes time, but it comes to an end: when its wait is over."""
        program = self.compiled(WAITS, "waits.c")
        for words in ([], ["looks"]):
            for way, trace in self.both([program, *words], "none"):
                with self.subTest(way=way, words=words):
                    end = self.events(trace)[1][-1][2]["enter"]
                    # It reads whole microseconds, and two of them.
                    self.assertGreaterEqual(end, 49_998_000_000)
                    self.assertLess(end, 51_500_000_000)

    def test_a_log_of_times_is_no_wait(self):
        """Readings between work take nothing, however many they are."""
        program = self.compiled(LOGS, "logs.c")
        for way, trace in self.both([program], "none"):
            with self.subTest(way=way):
                self.assertEqual(self.events(trace)[0][-1][2]["enter"], 0)

    def test_a_limit(self):
        """A row of looks that may be waiting, with a clock in it: what comes of it counts."""
        program = self.compiled(LIMIT, "limit.c")
        for way, trace in self.both([program], "annotated"):
            with self.subTest(way=way):
                self.assertIn("came", self.result.out)
                end = self.events(trace)[0][-1][2]["enter"]
                self.assertGreaterEqual(end, 1_000_000_000)
                self.assertLess(end, 1_050_000_000)

    def test_a_limit_while_it_sleeps(self):
        """Sleep between looks counts where the program reads a clock as well: it may give up."""
        program = self.compiled(LIMIT, "limit.c")
        for clock in ((), ("wtime",)):
            for way, _ in self.both([program, "sleeps", *clock], "measured"):
                with self.subTest(way=way, clock=clock):
                    self.assertIn("too late", self.result.out)

    def test_a_limit_while_it_spins(self):
        """What it looks for is there here, but comes later on the machine than the program waits."""
        program = self.compiled(LIMIT, "limit.c")
        self.machine = self.write("looks.toml", MACHINE + TEST)
        for clock in ((), ("wtime",)):
            for way, trace in self.both([program, "spins", *clock], "annotated"):
                with self.subTest(way=way, clock=clock):
                    self.assertIn("too late", self.result.out)
                    self.assertEqual(self.events(trace)[0][-1][2]["enter"], 60_000_000_000)

    def test_a_limit_of_an_hour(self):
        """18 thousand million looks of 200 ns would be for nothing."""
        program = self.compiled(LIMIT, "limit.c")
        machine = self.write("looks.toml", MACHINE + TEST)
        for clock in ("seconds", "wtime"):
            with self.subTest(clock=clock):
                trace = self.predict(2, [program, "spins", clock, 180_000], machine, compute="annotated", limit=60,
                                     options=["--mpi", harness.mpi])
                self.assertIn("too late", self.result.out)
                self.assertEqual(self.events(trace)[0][-1][2]["enter"], 3 * 3600 * 10**12)

    def test_a_limit_in_a_recording(self):
        """How long it looked is not how long it would elsewhere, and is told."""
        program = self.compiled(LIMIT, "limit.c")
        self.record(2, [program, "late", "seconds", 5])
        self.assertIn("too late", self.result.out)
        self.assertRegex(self.result.err, r"rank 0 looked in vain for 0\.\d+ s .*, read a clock meanwhile, and then")
        for words, came in (((), "came"), (("works", "seconds", 5), "too late")):
            self.record(2, [program, *words])
            with self.subTest(words=words, err=self.result.err):
                self.assertIn(came, self.result.out)
                self.assertNotIn("looked in vain", self.result.err)

    def test_a_limit_without_a_core(self):
        """Two others take half of its core while it works between its looks: it does not look then."""
        program = self.compiled(LIMIT, "limit.c")
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        self.addCleanup(os.sched_setaffinity, 0, cores)
        for _ in range(2):
            other = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
        self.record(2, [program, "works", "seconds", 5])
        self.assertIn("too late", self.result.out)
        self.assertNotIn("looked in vain", self.result.err)

    def test_python(self):
        if harness.mpi != "openmpi":
            self.skipTest("Debian's mpi4py is for Open MPI")
        script = self.write("clocks.py", PYTHON)
        for way, _ in self.both(["/usr/bin/python3", script], "measured:0.001"):
            with self.subTest(way=way):
                self.assertEqual(self.result.out.split("\n")[0], "0.00 0.00 0.00")
        for way, _ in self.both(["/usr/bin/python3", script], "measured"):
            with self.subTest(way=way):
                for shown in self.result.out.split("\n")[0].split():
                    self.assertGreaterEqual(float(shown), 0.5)
                    self.assertLess(float(shown), 1)


if __name__ == "__main__":
    harness.main()
