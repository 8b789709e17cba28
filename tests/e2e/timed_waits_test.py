"""Calls that sleep or wait for a moment, and waits for threads, count in all three ways."""

import harness

# Each way to sleep, 20 ms, and then each way to wait for threads: one sleeps 20 ms, the other one 30.
TIMED = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static const struct timespec kLong = {0, 20000000};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, monotonic;
static int ready, wrong;
static struct timespec later(clockid_t clock, long nanoseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += nanoseconds;
  if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, ++t.tv_sec;
  return t;
}
static void *sleep_for(void *microseconds) { usleep(*(int *)microseconds); return NULL; }
static int c11_sleep_for(void *microseconds) { usleep(*(int *)microseconds); return 0; }
static void *leave_after(void *microseconds) { usleep(*(int *)microseconds); pthread_exit(NULL); }
static void *signal_soon(void *nothing) {
  usleep(20000);
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return nothing;
}
static void after(const char *what, int as_expected) {
  if (!as_expected) printf("%s: wrong\n", what), wrong = 1;
  MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    /* The wait begins when the rank's clock is behind the system's. */
    pthread_t thread;
    const int slept = system("sleep 0.3");
    pthread_create(&thread, NULL, signal_soon, NULL);
    const struct timespec until = later(CLOCK_REALTIME, 200000000);
    int result = 0;
    pthread_mutex_lock(&mutex);
    while (!ready && result == 0) result = pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    puts(slept == 0 && result == 0 ? "in time" : "too late");
    MPI_Finalize();
    return 0;
  }
  struct timespec until, left = kLong;
  struct timeval limit = {0, 20000};
  pthread_condattr_t by_monotonic;
  pthread_condattr_init(&by_monotonic);
  pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &by_monotonic);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  mtx_t c11_mutex;
  cnd_t c11_condition;
  mtx_init(&c11_mutex, mtx_timed);
  cnd_init(&c11_condition);
  mtx_lock(&c11_mutex);
  pthread_mutex_lock(&mutex);
  const int files = epoll_create1(0);
  struct epoll_event event;
  MPI_Barrier(MPI_COMM_WORLD);
  after("thrd_sleep", thrd_sleep(&kLong, NULL) == 0);
  after("poll", poll(NULL, 0, 20) == 0);
  after("ppoll", ppoll(NULL, 0, &left, NULL) == 0);
  after("select", select(0, NULL, NULL, NULL, &limit) == 0);
  after("pselect", pselect(0, NULL, NULL, NULL, &kLong, NULL) == 0);
  after("epoll_wait", epoll_wait(files, &event, 1, 20) == 0);
  after("epoll_pwait", epoll_pwait(files, &event, 1, 20, NULL) == 0);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  after("sigtimedwait", sigtimedwait(&signals, NULL, &kLong) == -1 && errno == EAGAIN);
  until = later(CLOCK_REALTIME, 20000000);
  after("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("the same, monotonic", pthread_cond_timedwait(&monotonic, &mutex, &until) == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("pthread_cond_clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  until = later(CLOCK_REALTIME, 20000000);
  after("cnd_timedwait", cnd_timedwait(&c11_condition, &c11_mutex, &until) == thrd_timedout);
  until = later(CLOCK_REALTIME, 20000000);
  after("sem_timedwait", sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("sem_clockwait", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
  /* Locks that this thread holds. */
  until = later(CLOCK_REALTIME, 20000000);
  after("pthread_mutex_timedlock", pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("pthread_mutex_clocklock", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  until = later(CLOCK_REALTIME, 20000000);
  after("mtx_timedlock", mtx_timedlock(&c11_mutex, &until) == thrd_timedout);
  pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_rdlock(&shared);
  until = later(CLOCK_REALTIME, 20000000);
  after("pthread_rwlock_timedwrlock", pthread_rwlock_timedwrlock(&shared, &until) == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("pthread_rwlock_clockwrlock", pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  int word = 0;
  after("futex, for a time", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kLong, NULL, 0) == -1 && errno == ETIMEDOUT);
  until = later(CLOCK_MONOTONIC, 20000000);
  after("futex, until", syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, FUTEX_BITSET_MATCH_ANY) == -1
        && errno == ETIMEDOUT);
  int lengths[2] = {30000, 20000};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, i == 0 ? sleep_for : leave_after, &lengths[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  after("pthread_join", 1);
  thrd_t c11_threads[2];
  for (int i = 0; i < 2; ++i) thrd_create(&c11_threads[i], c11_sleep_for, &lengths[i]);
  usleep(10000); /* not added: the threads sleep meanwhile */
  for (int i = 0; i < 2; ++i) thrd_join(c11_threads[i], NULL);
  after("thrd_join", 1);
  /* In MPI meanwhile: only what is waited for it here counts. */
  pthread_create(&threads[0], NULL, sleep_for, &lengths[0]);
  after("meanwhile", 1);
  pthread_join(threads[0], NULL);
  after("joined after MPI", 1);
  MPI_Finalize();
  return wrong;
}
"""


# The same for C++'s: each way 20 ms.
TIMED_CPP = r"""
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mpi.h>
#include <mutex>
#include <thread>
using namespace std::chrono_literals;
static int wrong = 0;
static void after(const char *what, bool as_expected) {
  if (!as_expected) std::printf("%s: wrong\n", what), wrong = 1;
  MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable condition;
  std::condition_variable_any any;
  std::timed_mutex timed;
  std::promise<void> held, done;
  std::thread holder([&] {
    timed.lock();
    held.set_value();
    done.get_future().wait();
    timed.unlock();
  });
  held.get_future().wait();
  MPI_Barrier(MPI_COMM_WORLD);
  after("future::wait_for", future.wait_for(20ms) == std::future_status::timeout);
  after("future::wait_until", future.wait_until(std::chrono::system_clock::now() + 20ms) == std::future_status::timeout);
  after("condition_variable", condition.wait_for(lock, 20ms) == std::cv_status::timeout);
  after("condition_variable_any", any.wait_for(lock, 20ms) == std::cv_status::timeout);
  after("timed_mutex::try_lock_for", !timed.try_lock_for(20ms));
  after("timed_mutex::try_lock_until", !timed.try_lock_until(std::chrono::system_clock::now() + 20ms));
  done.set_value();
  holder.join();
  MPI_Finalize();
  return wrong;
}
"""


class TimedWaits(harness.TestCase):
    """What a rank does instead of sleeping, and for threads that it waits for."""

    def three_ways(self, *arguments, source=TIMED):
        compiler, ending = ("mpicc", "c") if source == TIMED else ("mpicxx", "cpp")
        file, program = self.write(f"timed.{ending}", source), self.directory / "timed"
        self.ok(harness.run([f"{compiler}.{harness.mpi}", "-O1", file, "-o", program, "-lpthread"]))
        command, outputs = [program, *arguments], []
        live = self.directory / "live.ftr"
        outputs.append(self.foretrace("simulate", "-n", 1, "--machine", harness.T3D, "-o", live, "--", *command).out)
        recorded = self.record(1, command)
        outputs.append(self.result.out)
        predicted = self.predict(1, command, compute="measured")
        outputs.append(self.result.out)
        return [predicted, self.simulate(recorded, compute="measured"), live], outputs

    def test_count_as_computation(self):
        self.check(21 * [0.02] + 2 * [0.03] + [0, 0.03])

    def test_of_cpp_count_as_computation(self):
        """What the C++ library makes of the kernel's waits, or of the C library's."""
        self.check(6 * [0.02], source=TIMED_CPP)

    def check(self, asked, **how):
        """A moment is nearer if the wait for it begins late, where a rank has no core for a while: what misses no more
        than that has to do so three times."""
        longest = 3 * [len(asked) * [0]]
        for _ in range(3):
            traces, outputs = self.three_ways(**how)
            for output in outputs:
                self.assertNotIn("wrong", output)
            longest = [[max(pair) for pair in zip(before, self.waits(trace, asked), strict=True)]
                       for before, trace in zip(longest, traces)]
            if all(wait > least - 0.001 for waits in longest for wait, least in zip(waits, asked)):
                return
        self.fail(f"{asked} s were counted as {longest}")

    def waits(self, trace, asked):
        """What was computed before each barrier but the first; each counts, and none twice."""
        _, *waits = [fields.get("compute", 0) * 1e-12 for _, name, fields in self.events(trace)[0]
                     if name == "MPI_Barrier"]
        self.assertEqual(len(waits), len(asked))
        for wait, least in zip(waits, asked):
            self.assertGreater(wait, least - 0.015, trace.name)
            self.assertLess(wait, least + 0.009, trace.name)
        return waits

    def test_end_when_they_should(self):
        """The program waits for a moment of its own clock, which may be behind the system's."""
        for output in self.three_ways("behind")[1]:
            self.assertRegex(output, "(?m)^in time$")


if __name__ == "__main__":
    harness.main()
