"""Threads of a rank that wait for each other otherwise than by MPI (programs/teams.cpp): what they compute one after
the other counts, what they compute beside each other does not add up, in all three ways."""

import json
import os
import re

import harness

# For each form: milliseconds of a round, by hand.
FORMS = {
    "conditions": 10,       # one works 10 while the other, which waits for it, works 2
    "c11-conditions": 10,
    "semaphores": 10,
    "atomics": 10,
    "barriers": 6 + 4,      # until each of two barriers: (6, 1), (1, 4)
    "pool": 8 + 2,          # two threads work 8 and 5; then the first one
    "futures": 10,
    "calls": 10,            # a call meanwhile
    "team": 8 + 2,          # (2, 8); then the first one
    "team-barriers": 5 + 5,  # (1, 5); then (4 + 1, 1 + 2)
    "teams": 7 + 3,         # one thread's own team: (1, 7); then that thread
    "lookers": 8 + 2,
    "order": 1 + 5 + 5,
    "tasks": (9 + 1, 3 + 9 + 1),  # by which of the two carries it out
    "sleepers": 10,
    "turns": 3 + 7,         # both call
    "callers": 12,
}
# A thread waits for a process, and another one for that thread, which is told, and is as long as it was here: beside it
# the thread works 2 ms in each round, and makes the process.
FOR_OTHERS = "processes", "process-pool"
# The first thread waits by something that takes no time, and comes when the other one is through, or lets it go on then.
LATE = {
    "semaphores-late": 10,  # one works 10 before it is there, the first one 2
    "locks": 10,            # one works 10, the first one 6, which would have had the lock before
    "limits": 10,           # one that has waited is let go on at once, and works 10
}
ROUNDS = 3


DEALT_OUT = r"""
#include <mpi.h>
#include <omp.h>
int main(int argc, char **argv) {
  volatile double sums[16] = {0};
  MPI_Init(&argc, &argv);
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 20000000; ++k) sums[i] += k;
  MPI_Finalize();
  return 0;
}
"""


# Rank by rank another thread computes 20 ms, the first one 5 ms before a barrier of all ranks and 1 ms after it; then the
# first one waits for the other: five rounds. "ring": it waits at once, and then exchanges something with its neighbours.
BESIDE_CALLS = harness.COMPUTE + r"""#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
static void call(void) {
  compute(5);
  MPI_Barrier(MPI_COMM_WORLD);
  compute(1);
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, done;
static void *work(void *pool) {
  int i = 0;
  if (!pool) compute(20);
  for (; pool && i < 5; ++i) {
    pthread_mutex_lock(&lock);
    while (asked == i) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    compute(20);
    pthread_mutex_lock(&lock);
    ++done;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(int argc, char **argv) {
  const int ring = !strcmp(argv[1], "ring"), pool = ring || !strcmp(argv[1], "pool");
  pthread_t thread;
  int level, rank, size, got;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (pool) pthread_create(&thread, 0, work, &lock);
  for (int i = 0; i < 5; ++i) {
    if (!strcmp(argv[1], "team")) {
#pragma omp parallel num_threads(2)
      if (omp_get_thread_num() == 0)
        call();
      else
        compute(20);
    } else if (pool) {
      pthread_mutex_lock(&lock);
      ++asked;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&lock);
      if (!ring) call();
      pthread_mutex_lock(&lock);
      while (done <= i) pthread_cond_wait(&changed, &lock);
      pthread_mutex_unlock(&lock);
      if (ring)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
      pthread_create(&thread, 0, work, 0);
      call();
      pthread_join(thread, 0);
    }
  }
  if (pool) pthread_join(thread, 0);
  MPI_Finalize();
  return 0;
}
"""

# Another thread computes 2 ms, which it does at one go; the first one waits for that, and computes 2 more.
LOOKS = harness.COMPUTE + r"""#include <mpi.h>
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <string>
#include <thread>
int main(int argc, char **argv) {
  const std::string form = argv[1];
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  for (int i = 0; i < 10; ++i) {
    std::atomic<int> number = 0;
    std::binary_semaphore semaphore(0);
    std::latch latch(2);
    std::barrier barrier(2);
    std::thread other([&] {
      compute(2);
      if (form == "atomic") number = 1, number.notify_one();
      if (form == "semaphore") semaphore.release();
      if (form == "latch") latch.count_down();
      if (form == "barrier") barrier.arrive_and_wait();
    });
    if (form == "atomic") number.wait(0);
    if (form == "semaphore") semaphore.acquire();
    if (form == "latch") latch.arrive_and_wait();
    if (form == "barrier") barrier.arrive_and_wait();
    compute(2);
    other.join();
  }
  MPI_Finalize();
  return 0;
}
"""

# Rank 0 receives what rank 1 sends after 50 ms; beside that a thread of rank 0 computes 20.
COMES_LAST = harness.COMPUTE + r"""#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
static int got, done;
static void receive(void) { MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *work(void *at_barrier) {
  compute(20);
  if (at_barrier) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  } else {
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(int argc, char **argv) {
  const int at_barrier = !strcmp(argv[1], "barrier");
  pthread_t thread;
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    compute(50);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (!strcmp(argv[1], "team")) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
      receive();
    else
      compute(20);
  } else {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, work, at_barrier ? &barrier : 0);
    pthread_detach(thread);
    receive();
    if (at_barrier) pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    while (!at_barrier && !done) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
  }
  MPI_Finalize();
  return 0;
}
"""

# "meet": two threads meet three times, after 5 and 15, 15 and 5, 5 and 15 ms of work. "hand": the first one hands the other
# 3 ms of work, makes a call, and when that work is done hands it 12.
STEPS = harness.COMPUTE + r"""#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
static pthread_barrier_t barrier;
static sem_t handed, done;
static int meets;
static void *work(void *nothing) {
  const int first[] = {15, 5, 15}, second[] = {3, 12};
  for (int i = 0; meets && i < 3; ++i) compute(first[i]), pthread_barrier_wait(&barrier);
  for (int i = 0; !meets && i < 2; ++i) sem_wait(&handed), compute(second[i]), sem_post(&done);
  return nothing;
}
int main(int argc, char **argv) {
  pthread_t thread;
  MPI_Init(&argc, &argv);
  meets = !strcmp(argv[1], "meet");
  pthread_barrier_init(&barrier, 0, 2);
  sem_init(&handed, 0, 0), sem_init(&done, 0, 0);
  pthread_create(&thread, 0, work, 0);
  for (int i = 0; meets && i < 3; ++i) {
    compute(i == 1 ? 15 : 5);
    pthread_barrier_wait(&barrier);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (!meets) {
    sem_post(&handed);
    compute(1);
    MPI_Barrier(MPI_COMM_WORLD);
    sem_wait(&done);
    sem_post(&handed);
    sem_wait(&done);
  }
  pthread_join(thread, 0);
  MPI_Finalize();
  return 0;
}
"""
SLOW_BARRIER = """
[machine]
name = "slow barrier"
time_unit = "ms"
[[function]]
name = "barrier"
[[function.regime]]
c = 10
"""


class Teams(harness.TestCase):
    def computed(self, trace):
        """In milliseconds."""
        return sum(fields.get("compute", 0) for _, _, fields in self.events(trace)[0]) * 1e-9

    def ways(self, form, environment):
        """Each with what makes its trace, and says what was told."""
        command = [harness.test_program("teams"), form]
        yield "record", lambda: self.record(1, command, env=environment)
        yield "predict", lambda: self.predict(1, command, compute="measured", env=environment)
        yield "live", lambda: self.live(command, environment)

    def live(self, command, environment):
        trace = self.directory / "live.ftr"
        self.result = self.foretrace("simulate", "-n", 1, "--machine", harness.T3D, "-o", trace, "--", *command, env=environment)
        return trace

    def check(self, form, **environment):
        """Who has no core for a while may come too late to a wait, and is not waited for then: what is wrong has to be so
        three times."""
        least, most = (ROUNDS * each for each in (FORMS[form] if isinstance(FORMS[form], tuple) else 2 * (FORMS[form],)))
        for way, run in self.ways(form, environment):
            with self.subTest(form=form, way=way):
                for last in (False, False, True):
                    trace = run()
                    if "not so many threads" in self.result.out:
                        return
                    computed = self.computed(trace)
                    told = re.search(r"rank 0 waited (\S+) s", self.result.err)
                    if 0.98 * least < computed < 1.1 * most and not told:
                        break
                    self.assertFalse(last, f"{computed} ms for {least} to {most}; {self.result.err}")

    def test_wait_for_each_other(self):
        for form in FORMS:
            self.check(form)

    def test_wait_for_others_that_wait_for_processes(self):
        for form in FOR_OTHERS:
            for way, run in self.ways(form, {}):
                with self.subTest(form=form, way=way):
                    for last in (False, False, True):
                        computed = self.computed(run())
                        told = re.search(r"rank 0 waited (\S+) s", self.result.err)
                        told = float(told[1]) * 1000 if told else 0
                        # Without what it lacked a core for.
                        really, making = map(float, re.search(r"waited (\S+) ms, made in (\S+) ms", self.result.out).groups())
                        if 0.5 * really < told < 1.02 * really + 0.1 and 2 * ROUNDS - 0.1 < computed - told < 1.15 * 2 * ROUNDS + making:
                            break
                        self.assertFalse(last, f"{computed} ms, of which {told} were told of {really}")

    def test_that_come_late_to_a_wait(self):
        for form, each in LATE.items():
            for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
                trace = self.directory / f"{verb}-late.ftr"
                with self.subTest(form=form, verb=verb):
                    for last in (False, False, True):
                        result = self.foretrace(verb, "-n", 1, *machine, "--waits", "none", "-o", trace, "--",
                                                harness.test_program("teams"), form)
                        computed = self.computed(trace)
                        made = re.search(r"made in (\S+) ms", result.out)
                        if 0.98 * ROUNDS * each < computed < 1.15 * ROUNDS * each + (float(made[1]) if made else 0):
                            break
                        self.assertFalse(last, f"{computed} ms for {ROUNDS * each}; {result.err}")

    def test_that_compute_beside_calls(self):
        """However long the calls take here, where all ranks share a core: a replay hides as much behind them as the target
        does, and explain says the same."""
        program = self.directory / "beside"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-fopenmp", self.write("beside.c", BESIDE_CALLS), "-o", program, "-lpthread"]))
        machine = ("--machine", harness.T3D)
        for form in ("made", "pool", "team"):
            with self.subTest(form=form):
                for last in (False, False, True):
                    trace = self.directory / "beside.ftr"
                    self.ok(harness.run(["taskset", "-c", min(os.sched_getaffinity(0)), harness.tool(), "record", "-n", 3,
                                         "-o", trace, "--", program, form], env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
                    says = [json.loads(self.foretrace(verb, trace, *machine, "--json").out)["time"] for verb in ("simulate", "explain")]
                    self.assertEqual(*says)
                    # Others take the core away, which costs some.
                    if 0.1 < says[0] < 0.115:
                        break
                    self.assertFalse(last, says)

    def test_that_go_on_where_they_have_met(self):
        """In replays as well; and who comes to wait just as something is put there goes on from there."""
        program = self.directory / "steps"
        self.ok(harness.run([f"mpicc.{harness.mpi}", self.write("steps.c", STEPS), "-o", program, "-lpthread"]))
        slow = self.write("slow.toml", SLOW_BARRIER)
        trace = self.directory / "steps.ftr"

        def time(verb, *arguments):
            command = ["taskset", "-c", min(os.sched_getaffinity(0)), harness.tool(), verb, *arguments]
            result = self.ok(harness.run(command, env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
            told = re.search(r"predicted time (\S+) s", result.out + result.err)
            return 1000 * float(told[1]) if told else None

        # (5, 15), (15, 5), (5, 15); 1, 10 of the call and 12.
        for form, machine, by_hand in (("meet", harness.T3D, 45), ("hand", slow, 23)):
            for last in (False, False, True):
                run = ("-n", 1, "--machine", machine, "-o", self.directory / "other.ftr", "--", program, form)
                time("record", "-n", 1, "-o", trace, "--", program, form)
                times = time("simulate", trace, "--machine", machine), time("predict", *run), time("simulate", *run)
                if all(0.98 * by_hand < each < 1.1 * by_hand for each in times):
                    break
                self.assertFalse(last, f"{form}: {times} ms for {by_hand}")

    def test_that_look_before_they_wait(self):
        """C++'s own waits look a few times, and let another thread have the core between the looks."""
        program = self.directory / "looks"
        self.ok(harness.run([f"mpicxx.{harness.mpi}", "-std=c++20", self.write("looks.cpp", LOOKS), "-o", program, "-lpthread"]))
        for form in ("atomic", "semaphore", "latch", "barrier"):
            for verb in ("predict", "simulate"):
                for last in (False, False, True):
                    command = ["taskset", "-c", min(os.sched_getaffinity(0)), harness.tool(), verb, "-n", 1, "--machine", harness.T3D,
                               "-o", self.directory / "looks.ftr", "--", program, form]
                    result = self.ok(harness.run(command, env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
                    time = 1000 * float(re.search(r"predicted time (\S+) s", result.out + result.err)[1])
                    # Ten times 2 and 2.
                    if 0.98 * 40 < time < 1.1 * 40:
                        break
                    self.assertFalse(last, f"{form}, {verb}: {time} ms for 40")

    def test_whose_rank_comes_last_to_where_they_meet(self):
        """A replay with shorter calls waits for them there; where that cannot be known, a line says so."""
        program = self.directory / "last"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-fopenmp", self.write("last.c", COMES_LAST), "-o", program, "-lpthread"]))
        for form in ("team", "barrier", "condition"):
            with self.subTest(form=form):
                for last in (False, False, True):
                    trace = self.directory / "last.ftr"
                    result = self.foretrace("record", "-n", 2, "-o", trace, "--", program, form)
                    faster = self.foretrace("simulate", trace, "--machine", harness.T3D, "--slower", "rank:1=0.1", "--json")
                    told = re.search(r"rank 0: a thread computed for 0\.02\d* s beyond it, and nobody was seen to wait", result.err)
                    time = json.loads(faster.out)["time"]
                    # Who has no core for long may come after the rank, which then waits, seen.
                    if (told and time < 0.01) if form == "condition" else (not told and 0.02 < time < 0.023):
                        break
                    self.assertFalse(last, f"{time} {result.err}")

    def test_that_wait_while_their_rank_waits_for_its_clock(self):
        """Live the rank may go on before it is known when its call has ended: that is no wait of the other thread's."""
        program = self.directory / "beside"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-fopenmp", self.write("beside.c", BESIDE_CALLS), "-o", program, "-lpthread"]))
        for last in (False, False, True):
            live = self.foretrace("simulate", "-n", 4, "--machine", harness.T3D, "-o", self.directory / "live.ftr", "--json", "--", program,
                                  "ring")
            time = json.loads(live.out)["time"]
            if 0.1 < time < 0.115:
                break
            self.assertFalse(last, time)

    def test_sleep_of_others_is_told(self):
        command = [harness.test_program("teams"), "sleepers"]
        for verb in ("predict", "simulate"):
            result = self.foretrace(verb, "-n", 1, "--machine", harness.T3D, "--compute", "none", "-o", self.directory / f"{verb}.ftr",
                                    "--", *command)
            # 4 ms of each 10 by itself; who comes late to the wait has slept less by that.
            told = re.search(r"rank 0 slept for (\S+) s, which takes no time with --compute none", result.err)
            self.assertTrue(told, result.err)
            self.assertTrue(ROUNDS * 0.006 < float(told[1]) < ROUNDS * 0.0101, result.err)

    def test_lack_of_cores_is_told(self):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        self.addCleanup(os.sched_setaffinity, 0, cores)
        told = r"rank 0: its threads waited (\S+) s for cores; what they share out"
        dealt_out = self.directory / "dealt_out"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-fopenmp", self.write("dealt_out.c", DEALT_OUT), "-o", dealt_out]))
        for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
            trace = self.directory / f"{verb}-crowded.ftr"
            with self.subTest(verb=verb):
                # Two that compute at once, on one core: each waits for about as long as it computes.
                for form in ("two-for-long", "pool-for-long"):
                    result = self.foretrace(verb, "-n", 1, *machine, "-o", trace, "--", harness.test_program("teams"), form)
                    self.assertRegex(result.err, told)
                # Loops that are dealt out alike come out right.
                result = self.foretrace(verb, "-n", 1, *machine, "-o", trace, "--", dealt_out)
                self.assertNotRegex(result.err, "for cores")
                # Ranks wait for cores as well, but none has two threads that compute at once.
                for form in ("one-for-long", "one-after-another"):
                    result = self.foretrace(verb, "-n", 2, *machine, "-o", trace, "--", harness.test_program("teams"), form)
                    self.assertNotRegex(result.err, "for cores")

    def test_that_look_for_work_all_the_time(self):
        for form in ("team", "team-barriers", "lookers", "order"):
            self.check(form, OMP_WAIT_POLICY="active")


# A region, in a constructor or not: what interpreters load may bring the library of the teams with it.
PLUGIN = r"""
#include <omp.h>
#include <pthread.h>
static int threads;
int region(void) {
#pragma omp parallel num_threads(2)
#pragma omp atomic
  ++threads;
  return threads;
}
#ifdef MAKES
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;
static void *work(void *nothing) {
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return nothing;
}
__attribute__((constructor)) static void make(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_mutex_lock(&mutex);
  while (!done) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  region();
}
#endif
"""


class Harmless(harness.TestCase):
    """Programs do what they do without us (programs/odd_waits.cpp)."""

    def check(self, *arguments):
        command = [harness.test_program("odd_waits"), *arguments]
        plain = self.ok(harness.plain(1, command)).out
        self.assertIn("fine", plain)
        for verb, options in (("record", ()), ("predict", ("--machine", harness.T3D)), ("simulate", ("--machine", harness.T3D))):
            with self.subTest(arguments=arguments, verb=verb):
                out = self.directory / f"{verb}.ftr"
                result = self.foretrace(verb, "-n", 1, *options, "-o", out, "--", *command, limit=40)
                self.assertEqual(result.out[:len(plain)], plain)
                out.unlink()

    def test_that_fork_while_others_wait(self):
        self.check("fork")

    def test_whose_signal_handlers_wake(self):
        self.check("handler")

    def test_whose_threads_are_cancelled(self):
        for form in ("waiting", "free", "sleeping", "signalling"):
            self.check("cancel", form)

    def test_that_leave_a_wait_by_a_jump(self):
        self.check("jump")

    def test_that_load_modules_with_threads(self):
        source = self.write("plugin.c", PLUGIN)
        for options in ((), ("-DMAKES",)):
            plugin = self.directory / f"plugin{len(options)}.so"
            self.ok(harness.run(["gcc", "-shared", "-fPIC", "-fopenmp", *options, source, "-o", plugin]))
            self.check("load", plugin)


if __name__ == "__main__":
    harness.main()
