"""MPI_Wtime under predict, and the time that a program sleeps."""

import os
import pathlib
import re
import statistics
import unittest

import harness

# Rank 1 sleeps, then sends. Rank 0 waits for it, looking every millisecond.
SLEEPS = r"""
#include <foretrace.h>
#include <mpi.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static void woken(int number) { (void)number; }
int main(int argc, char **argv) {
  int rank, data = 0, there = 0;
  const int interrupted = argc > 1 && argv[1][0] == 'i', otherwise = argc > 1 && argv[1][0] == 'o';
  const int is_short = argc > 1 && argv[1][0] == 's';
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    struct timespec each = {0, 30000000}, long_one = {0, 900000000}, left, until;
    if (interrupted) {
      const struct itimerval soon = {{0, 0}, {0, 100000}};
      signal(SIGALRM, woken);
      setitimer(ITIMER_REAL, &soon, NULL);
      nanosleep(&long_one, &left);
    } else if (otherwise) {
      if (system("sleep 0.3") != 0) return 1;
    } else {
      usleep(30000);
      if (FORETRACE_KERNEL_RUNS("nothing", 1)) FORETRACE_KERNEL_END("nothing");
      nanosleep(&each, NULL);
      clock_nanosleep(CLOCK_MONOTONIC, 0, &each, NULL);
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_nsec += 30000000;
      if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
      if (!is_short) sleep(1);
    }
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (;;) {
      MPI_Test(&request, &there, MPI_STATUS_IGNORE);
      if (there) break;
      usleep(1000);
    }
  }
  MPI_Finalize();
  return 0;
}
"""


class Wtime(harness.TestCase):
    def seconds(self, text):
        found = re.search(r"polled several times, ([0-9.]+) s", text)
        self.assertTrue(found, text)
        return float(found.group(1))

    def poll(self, *options, machine=harness.T3D):
        self.predict(2, [harness.test_program("misbehave"), "poll_clock"], machine, compute="none",
                     options=options, limit=100)
        return self.seconds(self.result.out)

    def test_virtual(self):
        """Each reading takes the timer's resolution, 6.6 ns on the T3D. The loop ends with the
        first reading that is 1 ms or more after the first; then there is one more:
        ceil(1e-3 / 6.6e-9) + 1 = 151,517 readings of 6.6 ns."""
        self.assertEqual(self.poll(), 0.001000012)

    def test_without_a_resolution(self):
        """Each reading takes 100 ns: 10,000 until 1 ms has passed, and one more."""
        self.assertEqual(self.poll(machine=self.without_resolution()), 0.0010001)

    def without_resolution(self):
        text = harness.T3D.read_text()
        self.assertIn("timer_resolution", text)
        return self.write("m.toml", re.sub("^timer_resolution.*\n", "", text, flags=re.M))

    def test_real(self):
        """The real clock: at least 1 ms. In virtual time its readings take what they always take."""
        self.assertGreaterEqual(self.poll("--wtime", "real"), 1e-3)
        *_, barrier, readings, final = self.events(self.directory / "predict.ftr")[0]
        self.assertEqual((barrier[1], readings[1]), ("MPI_Barrier", "MPI_Wtime"))
        self.assertEqual(final[2]["enter"], barrier[2]["leave"] + 6600 * readings[2]["count"])

    def test_one_rule(self):
        """Whoever predicts a program, what its readings take is the same: 200 and one."""
        command = [harness.test_program("misbehave"), "read_clock", 200]
        recorded = self.record(2, command)
        for machine, reading in ((harness.T3D, 6600), (self.without_resolution(), 100_000)):
            with self.subTest(machine=machine.name):
                simulated = self.simulate(recorded, machine, compute="none")
                for clock in ("virtual", "real"):
                    self.assert_same_ticks(simulated, self.predict(2, command, machine, compute="none",
                                                                   options=["--wtime", clock]))
                live = self.directory / "live.ftr"
                self.foretrace("simulate", "-n", 2, "--machine", machine, "--compute", "none", "-o", live,
                               "--", *command)
                for trace in (simulated, live):
                    readings = [f for kind, name, f in self.events(trace)[0] if name == "MPI_Wtime"]
                    self.assertEqual(sum(f["count"] for f in readings), 201)
                    self.assertEqual(sum(f["leave"] - f["enter"] for f in readings), 201 * reading)


WAITS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = MPI_Wtime();
  double sum = 0;
  if (argc > 1) {
    for (int i = 0; i < 3000; ++i) {
      const double each = MPI_Wtime();
      sum += MPI_Wtime() - each;
    }
    if (sum < 0) return 1;
  } else if (rank == 1) {
    while (MPI_Wtime() - begin < 0.1) {}
    const double half = MPI_Wtime();
    while (MPI_Wtime() - half < 0.1) {}
    printf("sends after %.6f s\n", MPI_Wtime() - begin);
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


class WaitForTheClock(harness.TestCase):
    def test_takes_the_time_that_passed(self):
        """However long a reading takes on the machine."""
        program = self.compile(WAITS, "waits")
        live = self.directory / "live.ftr"
        result = self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "-o", live, "--", program)
        # A rank that has no core for a while comes late to the clock.
        shown = {live: self.shown(result)}
        recorded = self.record(2, [program])
        shown[recorded] = self.shown(self.result)
        predicted = self.predict(2, [program], compute="measured")
        shown[predicted] = self.shown(self.result)
        slow = re.sub("^timer_resolution.*$", "timer_resolution = 1e-6", harness.T3D.read_text(), flags=re.M)
        slow = self.write("slow.toml", slow)
        for trace in (live, predicted, self.simulate(recorded, compute="measured"),
                      self.simulate(recorded, slow, compute="measured", name="slow.ftr")):
            with self.subTest(trace=trace.name):
                # A live run has each reading in its trace: too many to take apart.
                rank = self.ticks(trace).split("\nrank 1 ")[1]
                sent = int(re.search(r"^send .*\benter=(\d+)", rank, re.M)[1])
                # In a recording the clock shows what recording takes between the two waits, too.
                least = 0.1998e12 if trace.name in ("simulate.ftr", "slow.ftr") else 0.2e12
                self.assertGreaterEqual(sent, least)
                self.assertLess(sent, shown.get(trace, shown[recorded]) + 0.05e12)
        readings = [fields.get("count", 1) for _, name, fields in self.events(recorded)[1] if name == "MPI_Wtime"]
        # At each place one.
        self.assertEqual(readings, [5])

    def shown(self, result):
        """What the program saw pass until it sent, in picoseconds."""
        return float(re.search(r"sends after (\S+) s", result.out)[1]) * 1e12

    def test_timing_is_no_wait(self):
        """Who reads the clock before and after his work does not wait for it."""
        program = self.compile(WAITS, "waits")
        recorded = self.record(2, [program, "time"])
        for events in self.events(recorded):
            self.assertEqual([fields.get("count", 1) for _, name, fields in events if name == "MPI_Wtime"], [6001])


def may_take_a_core():
    """Whether a process of real-time priority may be started."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


class Sleep(harness.TestCase):
    def three_ways(self, *arguments):
        program = self.compile(SLEEPS, "sleeps")
        command = [program, *arguments]
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "-o", live, "--", *command)
        recorded = self.record(2, command)
        return [self.predict(2, command, compute="measured"), self.simulate(recorded, compute="measured"), live]

    def live(self, ranks, command, name="live.ftr", compute="measured"):
        self.result = self.foretrace("simulate", "-n", ranks, "--machine", harness.T3D, "-o", self.directory / name,
                                     "--compute", compute, "--", *command)

    def slept(self, trace):
        """What the two ranks computed until MPI_Finalize, in seconds."""
        return [sum(fields.get("compute", 0) for _, _, fields in events) * 1e-12 for events in self.events(trace)]

    def test_counts_as_computation(self):
        for trace in self.three_ways():
            with self.subTest(trace=trace.name):
                # Four times 30 ms and a second; the sleep until a moment is shorter if it begins late.
                waited, slept = self.slept(trace)
                self.assertGreater(slept, 1.09)
                self.assertLess(slept, 1.5)
                ends = [events[-1][2]["enter"] * 1e-12 for events in self.events(trace)]
                self.assertGreater(ends[0], 1.09)
                # Who sleeps between two looks waits. Live the looks come as they would.
                if trace.name != "live.ftr":
                    self.assertLess(waited, 0.3)

    @unittest.skipUnless(pathlib.Path("/proc/thread-self/schedstat").exists(), "the kernel does not say who waited for a core")
    def test_waits_for_other_processes_count(self):
        """Unless they shall not, which is said as well."""
        program = self.compile(SLEEPS, "sleeps")
        for trace in self.three_ways("otherwise"):
            with self.subTest(trace=trace.name):
                self.assertGreater(self.slept(trace)[1], 0.29)
                self.assertLess(self.slept(trace)[1], 0.6)
                self.assertGreater(self.events(trace)[0][-1][2]["enter"] * 1e-12, 0.29)
        counted, not_so = "s for files, other processes or the like: that is part of what is measured", r"s \(real time\) for something else than MPI"
        for verb, options in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
            for waits, told, untold in (("measured", counted, not_so), ("none", not_so, counted)):
                with self.subTest(verb=verb, waits=waits):
                    trace = self.directory / f"{verb}.{waits}.ftr"
                    result = self.foretrace(verb, "-n", 2, *options, "--waits", waits, "-o", trace, "--", program, "otherwise")
                    self.assertRegex(result.err, rf"foretrace: rank 1 waited 0\.[2-5]\d* {told}")
                    self.assertNotRegex(result.err, untold)
                    if waits == "none":
                        self.assertLess(self.slept(trace)[1], 0.1)

    def test_sleep_and_having_no_core_are_no_other_wait(self):
        program, told = self.compile(SLEEPS, "sleeps"), r"waited \S+ s (\(real time\) )?for"
        for ranks, arguments in ((2, [program, "short"]),
                                 (4, [harness.paper_program("mandel"), "--rows", 300, "--cols", 300, "--iters", 500])):
            for run in (self.record, self.live):
                run(ranks, arguments, name="busy.ftr")
                self.assertNotRegex(self.result.err, told)

    def test_what_measures_nothing_leaves_it_out(self):
        """Which is said: of sleep by predict, and of what waits for the clock as well when it is recorded."""
        program = self.compile(SLEEPS, "sleeps")
        told = r"foretrace: rank 1 slept for 0\.1[12]\d* s, which takes no time with --compute {}\n"
        for run in (self.predict, self.live):
            for compute in ("none", "annotated"):
                run(2, [program, "short"], compute=compute)
                self.assertRegex(self.result.err, told.format(compute))
                self.assertEqual(self.result.err.count("slept"), 1)
            run(2, [program, "short"], compute="measured")
            self.assertNotIn("slept", self.result.err)
        # The one that slept most; rank 0 sleeps between its looks for about as long.
        self.record(2, [program, "short"])
        self.assertRegex(self.result.err, r"foretrace: rank (1 slept, or waited by the clock, for 0\.1[12]|"
                                          r"0 slept, or waited by the clock, for 0\.1[1-9])\d* s: that is part of what is measured")
        program = self.compile(WAITS, "waits")
        self.record(2, [program])
        self.assertRegex(self.result.err, r"foretrace: rank 1 slept, or waited by the clock, for 0\.[2-4]\d* s")
        self.predict(2, [program], compute="none")
        self.assertNotIn("slept", self.result.err)

    def test_waiting_for_a_thread_is_not_told(self):
        """Nor is the wait until a thread tells something, if the thread is waited for in the end: what it slept counts."""
        program = self.compile(TOLD, "told")
        for run in (self.record, lambda *words, **how: self.predict(*words, compute="measured", **how), self.live):
            trace = run(1, [program], name="told.ftr") or self.directory / "told.ftr"
            self.assertNotRegex(self.result.err, r"waited \S+ s (\(real time\) )?for")
            self.assertGreater(self.slept(trace)[0], 0.29)
            self.assertLess(self.slept(trace)[0], 0.5)
            # Of what it waits besides it is all that is told.
            run(1, [program, "file"], name="told.ftr")
            self.assertRegex(self.result.err, r"rank 0 waited 0\.(29|[3-5])\d* s for files, other processes or the like")

    def test_a_thread_lacks_no_core_that_its_maker_uses(self):
        """It is done long before its maker waits for something else: that wait is told."""
        program = self.compile(TOLD, "told")
        self.record(1, [program, "busy"])
        self.assertRegex(self.result.err, r"rank 0 waited 0\.[12]\d* s \(real time\) for something else than MPI")

    @unittest.skipUnless(may_take_a_core(), "may not take a core from others")
    def test_waiting_for_a_thread_that_lacks_a_core_is_not_told(self):
        program = self.compile(TOLD, "told")
        for run in (self.record, lambda *words, **how: self.predict(*words, compute="measured", **how), self.live):
            trace = run(1, [program, "starved"], name="told.ftr") or self.directory / "told.ftr"
            self.assertGreater(float(re.search(r"joined after (\S+) s", self.result.out).group(1)), 0.4)
            self.assertNotRegex(self.result.err, r"waited \S+ s (\(real time\) )?for")
            self.assertLess(self.slept(trace)[0], 0.4)

    def test_that_is_interrupted(self):
        for trace in self.three_ways("interrupted"):
            with self.subTest(trace=trace.name):
                slept = self.slept(trace)[1]
                self.assertGreater(slept, 0.09)
                self.assertLess(slept, 0.6)


# A thread sleeps 0.3 s, and says that it is done. "starved": its only core is another process's from
# 0.1 s on, for 0.5 s. "busy": share() alone.
TOLD = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;
static void *work(void *nothing) {
  usleep(300000);
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return nothing;
}
static double now(void) { /* the system's, whatever clock the program is shown */
  struct timespec at;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
  return at.tv_sec + 1e-9 * at.tv_nsec;
}
static void stay_on_one_core(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}
static void compute(double seconds) { /* of its own time */
  struct timespec at;
  do syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &at);
  while (at.tv_sec + 1e-9 * at.tv_nsec < seconds);
}
static void *compute_some(void *nothing) { return compute(0.2), nothing; }
/* A thread computes beside its maker, who then waits for a program. */
static void share(void) {
  pthread_t thread;
  stay_on_one_core();
  pthread_create(&thread, NULL, compute_some, NULL);
  compute(0.6);
  if (system("sleep 0.4") != 0) exit(1);
  pthread_join(thread, NULL);
}
static void starve(void) {
  const struct sched_param first = {1};
  stay_on_one_core();
  if (fork() != 0) return;
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) _exit(1);
  const double begin = now();
  usleep(100000);
  while (now() < begin + 0.6) {}
  _exit(0);
}
int main(int argc, char **argv) {
  pthread_t thread;
  MPI_Init(&argc, &argv);
  if (argc > 1 && !strcmp(argv[1], "busy")) {
    share();
    return MPI_Finalize();
  }
  if (argc > 1 && !strcmp(argv[1], "starved")) starve();
  const double begin = now();
  pthread_create(&thread, NULL, work, NULL);
  pthread_mutex_lock(&mutex);
  while (!done) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  if (argc > 1 && !strcmp(argv[1], "file") && system("sleep 0.3") != 0) return 1;
  pthread_join(thread, NULL);
  if (argc > 1) printf("joined after %.3f s\n", now() - begin);
  MPI_Finalize();
  return 0;
}
"""

# Two ranks combine three times by a function that takes 20 ms; then all wait for all.
COMBINES = r"""
#include <mpi.h>
#include <unistd.h>
static void combine(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  usleep(20000);
  for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
}
int main(int argc, char **argv) {
  int rank, sum = 0, wrong = 0;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(combine, 1, &op);
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  wrong |= sum != 2;
  MPI_Reduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
  wrong |= sum != 3;
  MPI_Op_free(&op);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong;
}
"""


class OwnOperations(harness.TestCase):
    def test_count_as_computation(self):
        """After the call in which MPI called them: by the first barrier 40 ms, by the second one 60."""
        program = self.compile(COMBINES, "combines")
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "-o", live, "--", program)
        recorded = self.record(2, [program])
        for trace in (self.predict(2, [program], compute="measured"), self.simulate(recorded, compute="measured"), live):
            with self.subTest(trace=trace.name):
                barriers = [[fields["leave"] * 1e-12 for _, name, fields in events if name == "MPI_Barrier"]
                            for events in self.events(trace)]
                for first, second in barriers:
                    self.assertGreater(first, 0.04)
                    self.assertLess(first, 0.055)
                    self.assertGreater(second, 0.06)
                    self.assertLess(second, 0.08)


# Rank 0 waits 20 ms, and sleeps between its looks at the clock.
DEADLINES = r"""
#include <mpi.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + 1e-9 * at.tv_nsec;
}
int main(int argc, char **argv) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const int way = argv[1][0];
  int rank, found = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && way == 'w') {
    const double end = MPI_Wtime() + 0.02;
    while (MPI_Wtime() < end) usleep(1000);
  } else if (rank == 0) {
    const double end = now() + 0.02;
    while (now() < end) {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      if ((until.tv_nsec += 1000000) >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
      if (way == 'c') {
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&condition, &mutex, &until);
        pthread_mutex_unlock(&mutex);
      } else {
        usleep(1000);
      }
      if (way == 'l') MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


class Deadlines(harness.TestCase):
    def test_come_where_sleep_takes_no_time(self):
        """A loop that sleeps until its clock says so ends nearly as soon as by itself."""
        program = self.compile(DEADLINES, "deadlines")
        live = self.directory / "live.ftr"
        for way in ("sleep", "looks", "wtime", "condition"):
            for compute in ("none", "annotated", "measured"):
                self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", compute, "-o", live, "--",
                               program, way, limit=20)
                for trace in (self.predict(2, [program, way], compute=compute, limit=20), live):
                    with self.subTest(way=way, compute=compute, trace=trace.name):
                        # By the last step a reading goes on by less than half of a sleep.
                        ends = [events[-1][2]["enter"] for events in self.events(trace)]
                        self.assertGreaterEqual(min(ends), 20_000_000_000)
                        self.assertLess(max(ends), 21_000_000_000 if compute != "measured" else 60_000_000_000)

    def test_many_readings_in_one(self):
        """More than an event of a trace can count."""
        program = self.compile(DEADLINES, "deadlines")
        fine = self.write("fine.toml", re.sub("^timer_resolution.*$", "timer_resolution = 1e-12", harness.T3D.read_text(),
                                              flags=re.M))
        predicted = self.predict(2, [program, "wtime"], fine, compute="none", limit=20)
        self.assert_same_ticks(predicted, self.simulate(predicted, fine, compute="none", name="again.ftr"))


# Rank 0 looks 20 times for what rank 1 answers, sleeps in between, and asks for it only after that.
GIVES_UP = r"""
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, there, data = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Irecv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; ++i) {
      MPI_Test(&request, &there, MPI_STATUS_IGNORE);
      usleep(1000);
    }
    MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


class LooksInVain(harness.TestCase):
    def test_sleep_between_them_counts(self):
        """20 times 1 ms, in all ways: nothing was found. What it waits for in the end counts once."""
        program = self.compile(GIVES_UP, "gives_up")
        live = self.directory / "live.ftr"
        self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", "measured", "-o", live, "--", program)
        recorded = self.record(2, [program])
        for trace in (self.predict(2, [program], compute="measured"), self.simulate(recorded, compute="measured"), live):
            with self.subTest(trace=trace.name):
                end = self.events(trace)[0][-1][2]["enter"]
                self.assertGreaterEqual(end, 20_000_000_000)
                self.assertLess(end, 30_000_000_000)
        self.assertLess(self.events(self.simulate(recorded, compute="none"))[0][-1][2]["enter"], 1_000_000_000)


class NoComputation(harness.TestCase):
    """What we do ourselves after a call."""

    def test_for_a_new_communicator(self):
        """Its members tell each other something after the call, and so wait for each other."""
        program = self.compile(r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int size;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  return MPI_Finalize();
}
""", "communicators")
        for run in (lambda: self.record(2, [program]), lambda: self.predict(2, [program], compute="measured")):
            # After a barrier the members have waited for each other, too: a busy machine makes that as long, but not
            # in each run.
            beyond = min(self.beyond_the_usual(run()) for _ in range(3))
            self.assertLess(beyond, 100_000)

    def beyond_the_usual(self, trace):
        """What is computed after MPI_Comm_dup less 1.5 times what is after MPI_Barrier, in ps."""
        computed = {call: [fields.get("compute", 0) for events in self.events(trace) for _, name, fields in events
                           if name == call] for call in ("MPI_Comm_free", "MPI_Comm_size")}
        self.assertEqual([len(times) for times in computed.values()], [400, 400])
        return statistics.median(computed["MPI_Comm_free"]) - 1.5 * statistics.median(computed["MPI_Comm_size"])


if __name__ == "__main__":
    harness.main()
