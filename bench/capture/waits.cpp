// What it costs that Foretrace follows how threads wait for each other: prints a name and the
// nanoseconds that one of each takes, by the system's clock.
#include <mpi.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kTimes = 20000;

double now_ns() {
  timespec at{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
  return 1e9 * static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec);
}

template <class Work>
void time_of(const char* name, Work work) {
  const double begin = now_ns();
  work();
  std::printf("%s %.1f\n", name, (now_ns() - begin) / kTimes);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  volatile int done = 0;
#pragma omp parallel num_threads(2)
  done = 1;  // the threads are there
  time_of("region", [&] {
    for (int i = 0; i < kTimes; ++i) {
#pragma omp parallel num_threads(2)
      done = i;
    }
  });
  time_of("barrier", [] {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < kTimes; ++i) {
#pragma omp barrier
    }
  });
  std::mutex mutex;
  std::condition_variable condition;
  time_of("signal", [&] {
    for (int i = 0; i < kTimes; ++i) condition.notify_one();
  });
  int turn = 0;
  const auto take_turns = [&](int self) {
    for (int i = 0; i < kTimes / 2; ++i) {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return turn == self; });
      turn = 1 - self;
      condition.notify_one();
    }
  };
  time_of("turn", [&] {
    std::thread other(take_turns, 1);
    take_turns(0);
    other.join();
  });
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  time_of("semaphore", [&] {
    for (int i = 0; i < kTimes; ++i) {
      sem_post(&semaphore);
      sem_wait(&semaphore);
    }
  });
  time_of("lock", [&] {
    for (int i = 0; i < kTimes; ++i) const std::lock_guard taken(mutex);
  });
  time_of("critical", [&] {
#pragma omp parallel num_threads(1)
    for (int i = 0; i < kTimes; ++i) {
#pragma omp critical
      done = i;
    }
  });
  time_of("thread", [] {
    for (int i = 0; i < kTimes / 10; ++i) std::thread([] {}).join();
  });
  MPI_Finalize();
  return done < 0;
}
