"""Threads of a rank that need the same lock: one keeps it at a time on the target as well, however many cores there are
here, in all three ways. What they keep no lock for does not add up."""

import os
import re

import harness

# Milliseconds by hand, of two threads.
FORMS = {
    "mutex": 20 + 20,
    "checked": 20 + 20,
    "recursive": 20 + 20,
    "c11": 20 + 20,
    "writers": 20 + 20,
    "readers": 20,
    "by-turns": 10 + 3 * 10,  # 10 with it, 10 without, 10 with it
    "critical": 20 + 20,
    "two-names": 20,
    "omp-lock": 20 + 20,
    "one-name": 20 + 20,
    "then-alone": 8 + 8 + 12,  # keeps it for 8, and works 12 without it
    "often": 50 * (0.2 + 0.2),  # 50 times 0.2, and nothing else
    "shortly": 2 * 10,        # 1,000 times 0.01 and more, as the program says, and nothing else
    "seldom": 100 * 0.2,      # 100 times 0.2, of which 0.01 with it
    "handed-on": 20,          # by a condition: one waits with the lock, the other works without
    "two-at-once": 4 * (5 + 5),  # 4 times 5, with another lock beside it
    "before-threads": 20 + 20,  # one has it before the other thread is made
    "told-under-it": 20 + 10,  # by a condition, by one that has the lock for 20; the other one needs it to go on
    # One has it for 20. The other one works 1 then, and needs it:
    "reads-first": 20 + 20,   # to write for 20,
    "for-a-moment": 20 + 10,  # for a moment, and works 10 after that,
    "keeper": 20 + 5,         # for 5.
    # The same, but really it comes when the first one has released it: to wait for that takes no time.
    "late": 20 + 5,
    "late-recursive": 20 + 5,
}

PROGRAM = harness.COMPUTE + r"""#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static const char *form;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11;
static omp_lock_t omp_lock;
static sem_t has_it;
static int ends[2];
static int done;

static int is(const char *name) { return !strcmp(form, name); }

static void keep(double ms) {
  pthread_mutex_lock(&mutex);
  compute(ms);
  pthread_mutex_unlock(&mutex);
}

static void part(int thread) {
  if (is("mutex") || is("checked") || is("callers")) {
    keep(20);
  } else if (is("recursive")) {
    pthread_mutex_lock(&mutex);
    compute(5);
    keep(10);
    compute(5);
    pthread_mutex_unlock(&mutex);
  } else if (is("c11")) {
    mtx_lock(&c11);
    compute(20);
    mtx_unlock(&c11);
  } else if (is("writers") || is("readers")) {
    is("writers") ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock);
    compute(20);
    pthread_rwlock_unlock(&rwlock);
  } else if (is("by-turns")) {
    pthread_rwlock_wrlock(&rwlock);
    compute(10);
    pthread_rwlock_unlock(&rwlock);
    compute(10);
    pthread_rwlock_wrlock(&rwlock);
    compute(10);
    pthread_rwlock_unlock(&rwlock);
  } else if (is("omp-lock")) {
    omp_set_lock(&omp_lock);
    compute(20);
    omp_unset_lock(&omp_lock);
  } else if (is("then-alone")) {
    keep(8);
    compute(12);
  } else if (is("often")) {
    for (int i = 0; i < 50; ++i) keep(0.2);
  } else if (is("shortly")) {
    for (int i = 0; i < 1000; ++i) keep(0.01);
  } else if (is("seldom")) {
    for (int i = 0; i < 100; ++i) {
      keep(0.01);
      compute(0.19);
    }
  } else if (is("handed-on")) {
    if (thread == 0) {
      pthread_mutex_lock(&mutex);
      while (!done) pthread_cond_wait(&condition, &mutex);
      pthread_mutex_unlock(&mutex);
    } else {
      compute(20);
      pthread_mutex_lock(&mutex);
      done = 1;
      pthread_cond_signal(&condition);
      pthread_mutex_unlock(&mutex);
    }
  } else if (is("reads-first")) {
    if (thread == 1) {
      pthread_rwlock_rdlock(&rwlock);
      sem_post(&has_it);
    } else {
      sem_wait(&has_it);
      compute(1);
      pthread_rwlock_wrlock(&rwlock);
    }
    compute(20);
    pthread_rwlock_unlock(&rwlock);
  } else if (is("two-at-once")) {
    for (int i = 0; i < 4; ++i) {
      pthread_mutex_lock(&outer);
      keep(5);
      pthread_mutex_unlock(&outer);
    }
  } else if (is("before-threads")) {
    if (thread == 1) pthread_mutex_lock(&mutex);
    compute(20);
    pthread_mutex_unlock(&mutex);
  } else if (is("told-under-it")) {
    pthread_mutex_lock(&mutex);
    if (thread == 0) {
      while (!done) pthread_cond_wait(&condition, &mutex);
      pthread_mutex_unlock(&mutex);
      compute(10);
    } else {
      done = 1;
      pthread_cond_signal(&condition);
      compute(20);
      pthread_mutex_unlock(&mutex);
    }
  } else if (is("late") || is("late-recursive")) {
    char byte = 0;
    if (thread == 1) {
      pthread_mutex_lock(&mutex);
      compute(5);
      if (is("late")) compute(10);
      else keep(10);
      compute(5);
      pthread_mutex_unlock(&mutex);
      if (write(ends[1], &byte, 1) != 1) exit(1);
    } else {
      if (read(ends[0], &byte, 1) != 1) exit(1);
      compute(1);
      keep(5);
    }
  } else if (is("for-a-moment") || is("keeper")) {
    if (thread == 1) {
      pthread_mutex_lock(&mutex);
      sem_post(&has_it);
      compute(20);
      pthread_mutex_unlock(&mutex);
    } else {
      sem_wait(&has_it);
      compute(1);
      keep(is("keeper") ? 5 : 0);
      compute(is("keeper") ? 0 : 10);
    }
  } else {
    fprintf(stderr, "%s?\n", form);
    exit(1);
  }
}

static double together;  // computed, in ms

static double now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static void *run(void *nothing) {
  if (is("callers")) MPI_Barrier(MPI_COMM_SELF);
  const double begin = now();
  part(1);
  together += now() - begin;
  return nothing;
}

int main(int argc, char **argv) {
  int level;
  form = argv[1];
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, is("recursive") || is("late-recursive") ? PTHREAD_MUTEX_RECURSIVE : is("checked") ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_NORMAL);
  pthread_mutex_init(&mutex, &kind);
  mtx_init(&c11, mtx_plain);
  sem_init(&has_it, 0, 0);
  if (pipe(ends) != 0) return 1;
  omp_init_lock(&omp_lock);
  MPI_Init_thread(&argc, &argv, is("callers") ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
  if (level < MPI_THREAD_FUNNELED || (is("callers") && level < MPI_THREAD_MULTIPLE)) puts("not so many threads");
  MPI_Barrier(MPI_COMM_WORLD);
  if (is("critical") || is("two-names") || is("one-name")) {
#pragma omp parallel num_threads(2)
    if (is("critical")) {
#pragma omp critical
      compute(20);
    } else if (is("one-name")) {
#pragma omp critical(one)
      compute(20);
    } else if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      compute(20);
    } else {
#pragma omp critical(other)
      compute(20);
    }
  } else if (is("omp-lock")) {
#pragma omp parallel num_threads(2)
    part(omp_get_thread_num());
  } else {
    pthread_t thread;
    if (is("before-threads")) pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, run, 0);
    const double begin = now();
    part(0);
    const double took = now() - begin;
    pthread_join(thread, 0);
    if (is("shortly")) printf("together %.3f ms\n", together + took);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class Locks(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.program = self.directory / "locks"
        self.ok(harness.run([f"mpicc.{harness.mpi}", "-O1", "-fopenmp", self.write("locks.c", PROGRAM), "-o", self.program, "-lpthread"]))

    def time(self, form, cores, verb, *arguments):
        """And what it is at most, by hand or by the program's own clocks, which know of what it waits in turns."""
        command = ["taskset", "-c", cores, harness.tool(), verb, *arguments]
        result = self.ok(harness.run(command, env={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
        told = re.search(r"predicted time (\S+) s", result.out + result.err)
        together = re.search(r"together (\S+) ms", result.out)
        return 1000 * float(told[1]) if told else None, float(together[1]) if together else FORMS[form]

    def check(self, forms, cores):
        trace = self.directory / "locks.ftr"
        machine = "--machine", harness.T3D
        for form in forms:
            with self.subTest(form=form, cores=cores):
                for last in (False, False, True):
                    waits = ("--waits", "none") if form.startswith("late") else ()
                    run = ("-n", 1, *machine, *waits, "-o", self.directory / "other.ftr", "--", self.program, form)
                    _, most = self.time(form, cores, "record", "-n", 1, *waits, "-o", trace, "--", self.program, form)
                    times = {"replay": (self.time(form, cores, "simulate", trace, *machine)[0], most),
                             "predict": self.time(form, cores, "predict", *run), "live": self.time(form, cores, "simulate", *run)}
                    if all(0.97 * FORMS[form] < each < 1.1 * most + 0.5 for each, most in times.values()):
                        break
                    self.assertFalse(last, times)

    def test_one_at_a_time(self):
        self.check(FORMS, ",".join(map(str, sorted(os.sched_getaffinity(0)))))

    def test_where_several_threads_call_is_told(self):
        if "not so many threads" in harness.plain(1, [self.program, "callers"]).out:
            return
        for verb, machine in (("record", ()), ("predict", ("--machine", harness.T3D))):
            with self.subTest(verb=verb):
                result = self.foretrace(verb, "-n", 1, *machine, "-o", self.directory / f"{verb}.ftr", "--", self.program, "callers")
                self.assertRegex(result.err, r"rank 0: its threads waited 0\.(0[1-9]|[1-9])\d* s \(real time, all together\) for locks")
                result = self.foretrace(verb, "-n", 1, *machine, "-o", self.directory / f"{verb}.ftr", "--", self.program, "mutex")
                self.assertNotIn("for locks", result.err)

    def test_that_share_a_core(self):
        self.check(FORMS, str(min(os.sched_getaffinity(0))))


if __name__ == "__main__":
    harness.main()
