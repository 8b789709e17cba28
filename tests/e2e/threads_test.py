"""Programs whose threads call MPI at once (programs/threads.c): the results are those of a plain run, no call
is lost, and the trace can be replayed."""

import collections
import json

import harness

THREADS = 4
# Calls of one thread in one round.
CALLS = {"MPI_Send": 1, "MPI_Recv": 2, "MPI_Irecv": 1, "MPI_Isend": 2, "MPI_Waitall": 1, "MPI_Wait": 1,
         "MPI_Sendrecv": 1, "MPI_Allreduce": 1, "MPI_Bcast": 1}
# What stands in the trace for a blocking call that another thread overtook, beside its end.
POSTED = {"send": "isend", "recv": "irecv", "sendrecv": "irecv", "collective": "icollective"}
KINDS = {"MPI_Send": "send", "MPI_Recv": "recv", "MPI_Sendrecv": "sendrecv", "MPI_Allreduce": "collective",
         "MPI_Bcast": "collective", "MPI_Irecv": "irecv", "MPI_Isend": "isend", "MPI_Waitall": "complete",
         "MPI_Wait": "complete"}


# A thread of rank 0 takes 0.1 s and sends, before or after the first one has received, which takes 0.06 s.
BESIDE = r"""
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static void *send_late(void *data) {
  usleep(100000);
  MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return data;
}
int main(int argc, char **argv) {
  int rank, level, data = 0, got = 0;
  const int before = strcmp(argv[1], "before") == 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) pthread_create(&thread, NULL, send_late, &data);
  if (rank == 0 && before) pthread_join(thread, NULL);
  if (rank == 0) MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0 && !before) pthread_join(thread, NULL);
  if (rank == 1) usleep(60000);
  if (rank == 1) MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


# Another thread makes the calls, which the program did not ask for.
UNASKED = r"""
#include <mpi.h>
#include <pthread.h>
static void *meet(void *nothing) { return MPI_Barrier(MPI_COMM_WORLD), nothing; }
static void *look(void *nothing) { return MPI_Wtime() < 0 ? "" : nothing; }
int main(int argc, char **argv) {
  pthread_t thread;
  MPI_Init(&argc, &argv);
  pthread_create(&thread, NULL, argc > 1 ? look : meet, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
"""


class Unasked(harness.TestCase):
    def test_is_told_in_all_three_ways(self):
        program = self.compile(UNASKED)
        for verb, options in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
            for arguments, told in (((), 1), (("look",), 0)):
                with self.subTest(verb=verb, arguments=arguments):
                    out = self.directory / "out.ftr"
                    result = self.foretrace(verb, "-n", 2, *options, "-o", out, "--", program, *arguments)
                    self.assertEqual(result.err.count("calls MPI from several threads, but asked"), told)
                    out.unlink()


class Threads(harness.TestCase):
    ranks = 2

    def program(self, rounds, *size):
        command = [harness.test_program("threads"), rounds, *size]
        plain = self.ok(harness.plain(self.ranks, command, limit=200))
        if plain.out == "no MPI_THREAD_MULTIPLE\n":
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        self.assertEqual(plain.out, f"{self.ranks} ranks, {rounds} rounds, 0 wrong\n")
        self.plain = plain.out
        return command

    def check_counts(self, trace, rounds):
        """Each call once: as what it is, or as what was posted."""
        report = json.loads(self.foretrace("report", trace, "--json").out)
        self.assertTrue(report["complete"])
        self.assertEqual(report["damage"], [])
        overtaken = 0
        for events in self.events(trace):
            begun = collections.Counter()
            for kind, name, _ in events:
                whole = KINDS.get(name)
                begun[name] += kind in (whole, POSTED.get(whole))
                overtaken += kind == POSTED.get(whole)
            for name, calls in CALLS.items():
                token = THREADS // self.ranks if name in ("MPI_Send", "MPI_Recv") else 0
                self.assertEqual(begun[name], 2 * rounds * (THREADS * calls + token), name)
            self.assertEqual(events[-1][1], "MPI_Finalize")
            leaves = [fields["leave"] for _, _, fields in events if "leave" in fields]
            self.assertEqual(leaves, sorted(leaves))
        return overtaken

    def test_computation_beside_waits(self):
        """A replay hides it behind them, as the threads do."""
        self.program(1)
        program = self.compile(BESIDE, "beside")
        for how in ("after", "before"):
            with self.subTest(how=how):
                trace = self.record(2, [program, how])
                # Nor is it a wait for something else to wait for the end of a thread that calls.
                self.assertNotIn("than MPI", self.result.err)
                end = max(events[-1][2]["leave"] for events in self.events(self.simulate(trace, compute="recorded")))
                self.assertTrue(0.1e12 <= end < 0.12e12, end)

    def test_record(self):
        for rounds, size in ((4, ()), (2, ("big",))):
            command = self.program(rounds, *size)
            for clock in ("cpu", "wall"):
                with self.subTest(size=size, clock=clock):
                    trace = self.directory / "record.ftr"
                    result = self.foretrace("record", "-n", self.ranks, "--clock", clock, "-o", trace, "--",
                                            *command, limit=200)
                    self.assertEqual(result.out, self.plain)
                    self.assertGreater(self.check_counts(trace, rounds), 0)
                    if clock == "cpu":
                        self.simulate(trace, compute="recorded", limit=120)

    def test_predict(self):
        strict = self.write("strict.toml", harness.with_threshold(harness.T3D.read_text(), 64))
        for rounds, size in ((3, ()), (2, ("big",))):
            command = self.program(rounds, *size)
            for machine in (harness.T3D, strict):
                with self.subTest(size=size, machine=machine.name):
                    trace = self.predict(self.ranks, command, machine, limit=200)
                    self.assertEqual(self.result.out, self.plain)
                    self.check_counts(trace, rounds)

    def test_profile(self):
        rounds = 4
        command = self.program(rounds)
        path = self.directory / "p.json"
        result = self.foretrace("profile", "-n", self.ranks, "-o", path, "--", *command, limit=200)
        self.assertEqual(result.out, self.plain)
        calls = {f["name"]: f["calls"] for f in json.loads(path.read_text())["functions"]}
        for name, number in CALLS.items():
            token = 1 if name in ("MPI_Send", "MPI_Recv") else 0
            self.assertEqual(calls[name], 2 * THREADS * rounds * (self.ranks * number + token), name)

    def test_one_thread_alone(self):
        """Who asks for MPI_THREAD_MULTIPLE and makes all calls by one thread has the same prediction, also
        where there is another thread."""
        source = self.write("level.c", LEVEL)
        predicted, simulated = [], []
        for level, other in (("SINGLE", 0), ("MULTIPLE", 0), ("MULTIPLE", 1)):
            program = self.directory / f"{level.lower()}{other}"
            self.ok(harness.run([f"mpicc.{harness.mpi}", f"-DLEVEL=MPI_THREAD_{level}", f"-DOTHER={other}", source,
                                 "-o", program, "-lpthread"]))
            predicted.append(self.specified_ticks(self.predict(2, [program], name=f"{program.name}.ftr")))
            record = self.record(2, [program], name="record.ftr")
            trace = self.directory / "simulated.ftr"
            self.foretrace("simulate", record, "--machine", harness.T3D, "--compute", "none", "-o", trace)
            simulated.append(self.specified_ticks(trace))
        self.assertEqual(predicted[0], predicted[1])
        self.assertEqual(predicted[0], predicted[2])
        self.assertEqual(simulated[0], simulated[1])
        self.assertEqual(simulated[0], simulated[2])

    def test_collectives_of_one_thread_live(self):
        """Where several threads may call, a blocking collective is posted and waited for; it takes what it takes
        without them, by its own equation and algorithm, and as recorded."""
        source = self.write("collectives.c", COLLECTIVES)
        model = self.write("m.toml", harness.T3D.read_text() + FILES_MODEL)
        ways = [[], *(["--network", "flow", "--topology", "star:4?latency=1us&bandwidth=1GB/s", "--loggps",
                       "L=5us,o=1us,g=2us,G=1ns,S=4096", "--collectives", mpi] for mpi in ("openmpi", "mpich"))]
        for way in ways:
            times, waits = [], []
            for level, other in (("SINGLE", 0), ("MULTIPLE", 0), ("MULTIPLE", 1)):
                program = self.directory / f"{level.lower()}{other}"
                self.ok(harness.run([f"mpicc.{harness.mpi}", f"-DLEVEL=MPI_THREAD_{level}", f"-DOTHER={other}", source,
                                     "-o", program, "-lpthread"]))
                live = self.directory / "live.ftr"
                options = ["--machine", model, "--compute", "none", "--reduction", "1ns", *way]
                command = [program, self.directory / "file"]
                said = self.foretrace("simulate", "-n", 4, "--mpi", harness.mpi, *options, "-o", live, "--", *command)
                times.append(said.out.splitlines()[0])
                report = json.loads(self.foretrace("report", live, "--json").out)
                waits.append(report["wait"])
                # Of 40,000 elements, on any network: the disk's time is no message.
                self.assertAlmostEqual(report["states"]["MPI_File_write_at_all"], 4 * 70e-6, places=11)
            with self.subTest(way=way):
                recorded = self.record(4, [self.directory / "single0", self.directory / "file"])
                times.append(self.foretrace("simulate", recorded, *options).out.splitlines()[0])
                self.assertEqual(times, times[:1] * 4)
                # As messages, or beside another thread, more of what it takes is waiting.
                if not way:
                    self.assertEqual(waits[1], waits[0])

    def test_what_a_thread_computes_before_its_first_call(self):
        source = self.write("birth.c", BIRTH)
        program = self.directory / "birth"
        self.ok(harness.run([f"mpicc.{harness.mpi}", source, "-o", program, "-lpthread"]))
        if self.ok(harness.plain(1, [program])).out:
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        trace = self.directory / "birth.ftr"
        self.foretrace("record", "-n", 1, "-o", trace, "--", program)
        (_, (_, name, send), _), = self.events(trace)
        self.assertEqual(name, "MPI_Send")
        self.assertGreaterEqual(send["compute"], 40_000_000_000)  # ps

    def ways(self, program, compute, *arguments):
        """The predicted time in ps: by predict, record and simulate, live."""
        paths = [self.directory / f"{way}.ftr" for way in ("predict", "simulate", "live")]
        options = ("--machine", harness.T3D, "--compute", compute, "-o")
        command = (program, *arguments)
        self.foretrace("predict", "-n", 2, *options, paths[0], "--", *command)
        self.foretrace("simulate", self.record(2, command), *options, paths[1])
        self.foretrace("simulate", "-n", 2, *options, paths[2], "--", *command)
        return [max(rank[-1][2]["leave"] for rank in self.events(path)) for path in paths]

    def test_steps_of_threads(self):
        """What threads announce counts whether a call follows or not, and not twice."""
        program = self.directory / "steps"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-I", harness.SOURCE / "include",
                             self.write("steps.c", STEPS), "-o", program, "-lpthread"]))
        (alone, *_), levels = self.ways(program, "annotated", "alone", "MULTIPLE"), ("MULTIPLE", "SERIALIZED")
        self.assertGreater(alone, 3_000_000_000)
        for level in levels:
            for how in ("alone", "ends", "calls", "called", "both", "around"):
                with self.subTest(level=level, how=how):
                    self.assertEqual(self.ways(program, "annotated", how, level), [alone] * 3)
            # It may compute while the barriers are under way.
            with self.subTest(level=level, how="pool"):
                for time in self.ways(program, "annotated", "pool", level):
                    self.assertGreaterEqual(time, 3_000_000_000)
                    self.assertLessEqual(time, alone)
        self.assertEqual(self.ways(program, "annotated", "ends", "FUNNELED"), [alone] * 3)

    def test_threads_that_announce(self):
        """As that takes no time here, they may run one after the other: that is told where it adds up."""
        program = self.directory / "announce"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-I", harness.SOURCE / "include", self.write("announce.c", ANNOUNCE),
                             "-o", program, "-lpthread"]))
        told = "rank 0: several threads announced what they compute"
        times = []
        for command in ([program], [program, "both"]):
            predicted = self.predict(1, command)
            times.append(max(rank[-1][2]["leave"] for rank in self.events(predicted)))
            if times[-1] > times[0] + 900_000_000 or len(command) == 1:
                self.assertEqual(told in self.result.err, len(command) == 2, f"{times} {self.result.err}")

    def test_a_thread_that_answers_beside_announced_work(self):
        """Live, a rank has one clock: what is answered beside announced work comes after it, and that is told."""
        program = self.directory / "serve"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-I", harness.SOURCE / "include", harness.SOURCE / "tests/e2e/programs/serve.c",
                             "-o", program, "-lpthread"]))
        if self.ok(harness.plain(2, [program])).out:
            self.skipTest(f"{harness.mpi} has no MPI_THREAD_MULTIPLE here")
        told = r"rank \d: its threads announced 0\.0\d+ s of computation beside others that call MPI"
        for compute, arguments, says in (("annotated", [], True), ("measured", [], False), ("annotated", ["alone"], False)):
            with self.subTest(compute=compute, arguments=arguments):
                result = self.foretrace("simulate", "-n", 2, "--machine", harness.T3D, "--compute", compute, "-o",
                                        self.directory / "serve.ftr", "--", program, *arguments)
                (self.assertRegex if says else self.assertNotRegex)(result.err + result.out, told)

    def test_work_beside_a_thread_that_writes(self):
        """A thread writes a checkpoint for 300 us while another announces 500 us of work, three times: the threads
        take the longer of the two, in a replay as well; not where the work follows the writing."""
        program = self.directory / "checkpoint"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-I", harness.SOURCE / "include",
                             self.write("checkpoint.c", CHECKPOINT), "-o", program, "-lpthread"]))
        model = self.write("m.toml", WRITES_MODEL)
        hidden = "threads computed for 0.0009 s while others computed or were in calls"
        for how, takes in (("beside", 1500_000_000), ("after", 2400_000_000)):
            with self.subTest(how=how):
                command = [program, self.directory / "file", how]
                trace = self.record(1, command)
                self.assertEqual(self.events(self.simulate(trace, machine=model))[0][-1][2]["leave"], takes)
                trace = self.predict(1, command, machine=model)
                self.assertEqual(hidden in self.result.err, how == "beside", self.result.err)
                self.assertEqual(self.events(trace)[0][-1][2]["leave"], takes)

    def test_cpu_time_of_threads(self):
        program = self.directory / "work"
        self.ok(harness.run([f"mpicc.{harness.mpi}", self.write("work.c", WORK), "-o", program, "-lpthread"]))
        for how in ("before", "after", "beside", "joined"):
            with self.subTest(how=how):
                for way, time in zip(("predict", "simulate", "live"), self.ways(program, "measured", how)):
                    self.assertGreaterEqual(time, 40_000_000_000, way)
                    self.assertLess(time, 70_000_000_000, way)


# A thread writes 20,000 bytes, while its maker announces work, or before.
CHECKPOINT = r"""
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include "foretrace.h"
static MPI_File file;
static char data[20000];
static void *write_it(void *none) {
  MPI_File_write_at(file, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
  return none;
}
int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, write_it, NULL);
    if (!strcmp(argv[2], "beside")) FORETRACE_COMPUTE(500);
    pthread_join(thread, NULL);
    if (!strcmp(argv[2], "after")) FORETRACE_COMPUTE(500);
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_File_close(&file);
  MPI_Finalize();
}
"""

WRITES_MODEL = """
[machine]
name = "writes"
time_unit = "us"
[compute]
step = 1e-6
[[function]]
name = "file_write_at"
[[function.regime]]
c = 100.0
k = 0.01
g = "d"
"""

# One thread, or two, that announce what they compute and call MPI.
ANNOUNCE = r"""
#include <mpi.h>
#include <pthread.h>
#include "foretrace.h"
static void *work(void *comm) {
  for (int i = 0; i < 3; ++i) {
    FORETRACE_COMPUTE(1000);
    MPI_Barrier(*(MPI_Comm *)comm);
  }
  return comm;
}
int main(int argc, char **argv) {
  int level;
  MPI_Comm comms[2];
  pthread_t threads[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < argc; ++i) pthread_create(&threads[i], NULL, work, &comms[i]);
  for (int i = 0; i < argc; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
"""

# Three times 1000 steps, in several ways, and a barrier.
STEPS = r"""
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include "foretrace.h"
static sem_t go, done;
static const char *how;
static void *steps(void *number) {
  int rank;
  if (!strcmp(how, "called")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FORETRACE_COMPUTE(*(double *)number);
  if (!strcmp(how, "calls")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return NULL;
}
static void *pool(void *nothing) {
  for (int i = 0; i < 3; ++i) {
    sem_wait(&go);
    FORETRACE_COMPUTE(1000);
    sem_post(&done);
  }
  sem_wait(&go);
  return nothing;
}
int main(int argc, char **argv) {
  int provided, level = argv[2][0] == 'M'   ? MPI_THREAD_MULTIPLE
                        : argv[2][0] == 'S' ? MPI_THREAD_SERIALIZED
                                            : MPI_THREAD_FUNNELED;
  pthread_t threads[2];
  double all = 1000, some = 600, rest = 400;
  how = argv[1];
  MPI_Init_thread(&argc, &argv, level, &provided);
  sem_init(&go, 0, 0), sem_init(&done, 0, 0);
  if (!strcmp(how, "pool")) pthread_create(&threads[0], NULL, pool, NULL);
  for (int i = 0; i < 3; ++i) {
    if (!strcmp(how, "alone")) {
      FORETRACE_COMPUTE(all);
    } else if (!strcmp(how, "pool")) {
      sem_post(&go), sem_wait(&done);
    } else if (!strcmp(how, "both")) {
      pthread_create(&threads[0], NULL, steps, &all);
      pthread_create(&threads[1], NULL, steps, &some);
      pthread_join(threads[0], NULL), pthread_join(threads[1], NULL);
    } else if (!strcmp(how, "around")) {
      FORETRACE_COMPUTE(300);
      pthread_create(&threads[0], NULL, steps, &rest);
      FORETRACE_COMPUTE(100);
      pthread_join(threads[0], NULL);
      FORETRACE_COMPUTE(300);
    } else {
      pthread_create(&threads[0], NULL, steps, &all);
      pthread_join(threads[0], NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (!strcmp(how, "pool")) sem_post(&go), pthread_join(threads[0], NULL);
  return 0;
}
"""

# 40 ms of CPU time: before a thread's first call, after its last one, beside one that talks, or when
# that has ended.
WORK = r"""
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
static int rank;
static void work(void) {
  struct timespec now, begin;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 40000000);
}
static void *talk(void *how) {
  int data = 0;
  if (!strcmp(how, "before")) work();
  for (int i = 0; i < 10; ++i)
    MPI_Sendrecv_replace(&data, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(how, "after")) work();
  return NULL;
}
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, NULL, talk, argv[1]);
  if (!strcmp(argv[1], "beside")) work();
  pthread_join(thread, NULL);
  if (!strcmp(argv[1], "joined")) work();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# A thread that calls MPI once it has used 40 ms.
BIRTH = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static void *work(void *nothing) {
  struct timespec used;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  while (used.tv_sec == 0 && used.tv_nsec < 40000000);
  MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  return nothing;
}
int main(int argc, char **argv) {
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    puts("no MPI_THREAD_MULTIPLE");
    return MPI_Finalize();
  }
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
"""

# Every kind of event.
# Collectives of unequal parts, large ones, and such as have equations of their own.
COLLECTIVES = r"""
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rest(void *nothing) { return pause(), nothing; }
static double in[40000], out[40000];
int main(int argc, char** argv) {
  int provided, rank, counts[4], places[4], value = 0;
  pthread_t thread;
  MPI_File file;
  MPI_Win window;
  MPI_Comm half;
  MPI_Init_thread(&argc, &argv, LEVEL, &provided);
  if (OTHER) pthread_create(&thread, NULL, rest, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 4; ++i) counts[i] = 1000 * i, places[i] = 10000 * i;
  MPI_Bcast(in, 10000, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Allgatherv(in, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Gatherv(in, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE, 2, MPI_COMM_WORLD);
  MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, (int[]){counts[rank], counts[rank], counts[rank], counts[rank]},
                places, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Reduce(in, out, 20000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, 320000 * rank, in, 40000, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""

FILES_MODEL = """
[[function]]
name = "file_open"
class = "collective"
[[function.regime]]
c = 200.0
s = 1.0
f = "p"
[[function]]
name = "file_write_at_all"
class = "file"
[[function.regime]]
c = 30.0
k = 0.001
g = "d"
"""

LEVEL = r"""
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>
static void *rest(void *nothing) { return pause(), nothing; }
int main(int argc, char** argv) {
  int provided, rank, in = 0, out = 1;
  pthread_t thread;
  MPI_Request requests[2];
  MPI_Init_thread(&argc, &argv, LEVEL, &provided);
  if (OTHER) pthread_create(&thread, NULL, rest, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    if (rank == 0) {
      MPI_Send(&out, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&in, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
    for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 8, &in, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&in, 1, MPI_INT, i % 2, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


if __name__ == "__main__":
    harness.main()
