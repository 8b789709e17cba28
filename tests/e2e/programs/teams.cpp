// Threads of a rank that wait for each other, in one form at a time: teams FORM
//
// Work is measured by the thread's own CPU clock, so what the threads compute one after the other
// can be told by hand (teams_test.py), however few cores they have here.
#include <fcntl.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 3;

double ms_by(clockid_t clock) {
  timespec at{};
  syscall(SYS_clock_gettime, clock, &at);
  return 1e3 * static_cast<double>(at.tv_sec) + 1e-6 * static_cast<double>(at.tv_nsec);
}

double cpu_ms() {
  return ms_by(CLOCK_THREAD_CPUTIME_ID);
}

void work(double ms) {
  const double end = cpu_ms() + ms;
  while (cpu_ms() < end) continue;
}

double waited_ms = 0, making_ms = 0;  // for processes; computed to make them

void meet() {
  MPI_Barrier(MPI_COMM_WORLD);
}

// A thread that has not come to its wait yet is not waited for: on a machine with few cores that
// may be long after it could have.
void until_asleep(const std::atomic<long>& thread) {
  while (thread == 0) sched_yield();
  const std::string name = "/proc/self/task/" + std::to_string(thread) + "/stat";
  const int file = open(name.c_str(), O_RDONLY);
  char text[64] = "";
  do {
    sched_yield();
    if (pread(file, text, sizeof text - 1, 0) <= 0) break;
  } while (!std::strstr(text, ") S"));
  close(file);
}

// A process of its own.
pid_t start_process(int pipe, unsigned us = 10'000) {
  making_ms -= cpu_ms();
  const pid_t process = fork();
  making_ms += cpu_ms();
  if (process != 0) return process;
  usleep(us);
  if (pipe >= 0 && write(pipe, "x", 1) != 1) _exit(1);
  _exit(0);
}

// A thread works for 10 ms each time it is let go on, the first one for 2 and waits for it.
void give_and_take(const std::function<void()>& give, const std::function<void()>& take,
                   const std::function<void()>& give_back, const std::function<void()>& take_back) {
  std::atomic<long> number = 0;
  std::thread other([&] {
    number = syscall(SYS_gettid);
    for (int round = 0; round < kRounds; ++round) {
      take();
      work(10);
      give_back();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    until_asleep(number);
    give();
    work(2);
    take_back();
    meet();
  }
  other.join();
}

void by_conditions() {
  std::mutex mutex;
  std::condition_variable condition;
  int turn = 0;
  const auto set = [&](int value) {
    return [&, value] {
      {
        const std::lock_guard lock(mutex);
        turn = value;
      }
      condition.notify_all();
    };
  };
  const auto await = [&](int value) {
    return [&, value] {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return turn == value; });
    };
  };
  give_and_take(set(1), await(1), set(0), await(0));
}

void by_c11_conditions() {
  mtx_t mutex;
  cnd_t condition;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  int turn = 0;
  const auto set = [&](int value) {
    return [&, value] {
      mtx_lock(&mutex);
      turn = value;
      cnd_signal(&condition);
      mtx_unlock(&mutex);
    };
  };
  const auto await = [&](int value) {
    return [&, value] {
      mtx_lock(&mutex);
      while (turn != value) cnd_wait(&condition, &mutex);
      mtx_unlock(&mutex);
    };
  };
  give_and_take(set(1), await(1), set(0), await(0));
}

void by_semaphores() {
  sem_t there, back;
  sem_init(&there, 0, 0);
  sem_init(&back, 0, 0);
  give_and_take([&] { sem_post(&there); }, [&] { sem_wait(&there); }, [&] { sem_post(&back); },
                [&] { sem_wait(&back); });
}

// What is told so, its reader waits for, really, but not on the rank's clock.
class Pipe {
 public:
  Pipe() {
    if (pipe(ends_) != 0) std::exit(1);
  }
  ~Pipe() { close(ends_[0]), close(ends_[1]); }
  void tell() const {
    if (write(ends_[1], "x", 1) != 1) std::exit(1);
  }
  void await() const {
    char text = 0;
    if (read(ends_[0], &text, 1) != 1) std::exit(1);
  }
  int end() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
};

// The first thread comes when it is there already.
void by_semaphores_late() {
  const Pipe pipe;
  sem_t back;
  sem_init(&back, 0, 0);
  for (int round = 0; round < kRounds; ++round) {
    std::thread other([&] {
      work(10);
      sem_post(&back);
      pipe.tell();
      work(1);  // for which nobody waits
    });
    work(2);
    pipe.await();
    sem_wait(&back);
    meet();
    other.detach();
  }
  sem_destroy(&back);
}

// It takes a lock that the other one had, but not before: who has it first is decided by the cores.
void by_locks() {
  const Pipe pipe;
  for (int round = 0; round < kRounds; ++round) {
    sem_t lock;
    sem_init(&lock, 0, 1);
    std::thread other([&] {
      work(8);
      sem_wait(&lock);
      work(2);
      sem_post(&lock);
      pipe.tell();
    });
    pipe.await();
    sem_wait(&lock);
    work(6);
    sem_post(&lock);
    other.join();
    sem_destroy(&lock);
    meet();
  }
}

// It waits again and again while the first one waits for a process, until that lets it go on.
void by_limits() {
  for (int round = 0; round < kRounds; ++round) {
    const Pipe pipe;
    std::mutex mutex;
    std::condition_variable condition;
    bool goes_on = false;
    std::thread other([&] {
      std::unique_lock lock(mutex);
      while (!goes_on) condition.wait_for(lock, std::chrono::milliseconds(5));
      lock.unlock();
      work(10);
    });
    const pid_t process = start_process(pipe.end(), 50'000);
    pipe.await();
    {
      const std::lock_guard lock(mutex);
      goes_on = true;
      condition.notify_one();
    }
    waitpid(process, nullptr, 0);
    other.join();
    meet();
  }
}

// C++'s own wait in the kernel.
void by_atomics() {
  std::atomic<int> turn = 0;
  const auto set = [&](int value) {
    return [&, value] {
      turn = value;
      turn.notify_all();
    };
  };
  const auto await = [&](int value) { return [&, value] { turn.wait(1 - value); }; };
  give_and_take(set(1), await(1), set(0), await(0));
}

// The second thread is slower in the first half of each round, the first one in the second half.
void by_barriers() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread other([&] {
    for (int round = 0; round < kRounds; ++round) {
      work(6);
      pthread_barrier_wait(&barrier);
      work(1);
      pthread_barrier_wait(&barrier);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    work(1);
    pthread_barrier_wait(&barrier);
    work(4);
    pthread_barrier_wait(&barrier);
    meet();
  }
  other.join();
}

// Made before MPI_Init, as many libraries do.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    has_work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(const std::vector<double>& pieces) {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return waiting_ == static_cast<int>(threads_.size()); });
    for (const double piece : pieces) pieces_.push(piece);
    open_ = static_cast<int>(pieces.size());
    has_work_.notify_all();
    done_.wait(lock, [&] { return open_ == 0; });
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++waiting_;
      idle_.notify_one();
      has_work_.wait(lock, [&] { return ends_ || !pieces_.empty(); });
      --waiting_;
      if (pieces_.empty()) return;
      const double piece = pieces_.front();
      pieces_.pop();
      lock.unlock();
      work(piece);
      lock.lock();
      // Each tells its end: with few cores the one that ends last may be the one with less to do.
      --open_;
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable has_work_, done_, idle_;
  std::queue<double> pieces_;
  int open_ = 0, waiting_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

Pool* pool = nullptr;

void by_pool() {
  for (int round = 0; round < kRounds; ++round) {
    pool->run({8, 5});
    work(2);
    meet();
  }
}

void by_futures() {
  for (int round = 0; round < kRounds; ++round) {
    std::future<void> result = std::async(std::launch::async, [] { work(10); });
    work(2);
    result.get();
    meet();
  }
}

// The pool's work overlaps with a call that takes next to nothing.
void in_calls() {
  for (int round = 0; round < kRounds; ++round) {
    std::thread other([] { work(10); });
    work(2);
    meet();
    other.join();
    meet();
  }
}

// What one thread does more than the other.
void by_team() {
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    work(omp_get_thread_num() == 0 ? 2 : 8);
    work(2);
    meet();
  }
}

void by_teams_barriers() {
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    {
      work(omp_get_thread_num() == 0 ? 1 : 5);
#pragma omp barrier
      work(omp_get_thread_num() == 0 ? 4 : 1);
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 2; ++i) work(i == 0 ? 1 : 2);
    }
    meet();
  }
}

void by_teams_in_teams() {
  omp_set_max_active_levels(2);
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(2)
        work(omp_get_thread_num() == 0 ? 1 : 7);
        work(3);
      }
    }
    meet();
  }
}

// Each piece waits for the one before it; what precedes that is done beside it.
void by_order() {
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; ++i) {
      work(1);
#pragma omp ordered
      work(5);
    }
    meet();
  }
}

// One makes a task, which the other one may carry out, and waits for it.
void by_tasks() {
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
#pragma omp master
    {
#pragma omp task
      work(9);
      const double begin = cpu_ms();
      while (cpu_ms() < begin + 3) sched_yield();
#pragma omp taskwait
      work(1);
    }
    meet();
  }
}

// The library looks for the threads' next work for as long as it is told to; that is no work.
void by_team_of_lookers() {
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    work(omp_get_thread_num() == 0 ? 2 : 8);
    usleep(2000);
    meet();
  }
}

// What another sleeps is slept by who waits for it.
void by_sleepers() {
  for (int round = 0; round < kRounds; ++round) {
    std::thread other([] { usleep(10'000); });
    usleep(4'000);
    other.join();
    meet();
  }
}

// What a thread waits for, others wait for.
void by_processes() {
  for (int round = 0; round < kRounds; ++round) {
    std::future<void> result =
        std::async(std::launch::async, [] { waitpid(start_process(-1), nullptr, 0); });
    work(2);
    waited_ms -= ms_by(CLOCK_MONOTONIC);
    result.get();
    waited_ms += ms_by(CLOCK_MONOTONIC);
    meet();
  }
}

// One reads what processes write, as pools of them do it, while the other is in MPI, too.
void by_pool_of_processes() {
  const Pipe pipe;
  std::mutex mutex;
  std::condition_variable condition;
  int done = 0;
  std::thread reader([&] {
    for (int round = 0; round < kRounds; ++round) {
      pipe.await();
      const std::lock_guard lock(mutex);
      ++done;
      condition.notify_one();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const pid_t process = start_process(pipe.end());
    work(2);
    {
      std::unique_lock lock(mutex);
      waited_ms -= ms_by(CLOCK_MONOTONIC);
      condition.wait(lock, [&] { return done > round; });
    }
    waitpid(process, nullptr, 0);
    waited_ms += ms_by(CLOCK_MONOTONIC);
    meet();
  }
  reader.join();
}

// Two threads take turns, and both call MPI.
void by_turns() {
  std::mutex mutex;
  std::condition_variable condition;
  int turn = 0;
  std::atomic<long> numbers[2] = {0, 0};
  const auto take_part = [&](int self) {
    numbers[self] = syscall(SYS_gettid);
    for (int round = 0; round < kRounds; ++round) {
      {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return turn == self; });
      }
      work(self == 0 ? 3 : 7);
      meet();
      until_asleep(numbers[1 - self]);
      const std::lock_guard lock(mutex);
      turn = 1 - self;
      if (self == 1 && round == kRounds - 1) break;
      condition.notify_all();
    }
  };
  std::thread other(take_part, 1);
  take_part(0);
  other.join();
}

// Three threads call; the last one to begin computes for longest before it does.
void by_callers() {
  for (int round = 0; round < kRounds; ++round) {
    int rank = 0;
    const auto call_after = [](double ms) {
      int size = 0;
      work(ms);
      MPI_Comm_size(MPI_COMM_WORLD, &size);
    };
    std::thread early(call_after, 1);
    std::thread late(call_after, 12);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    early.join();
    late.join();
    meet();
  }
}

// Two threads that compute at once, and so long that having no core matters; one that does.
void by_two_for_long() {
#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 10; ++i) work(30);
}
// In threads that have ended before the program does.
void by_pool_for_long() {
  Pool threads(2);
  threads.run({75, 75, 75, 75});
}
void by_one_after_another() {
  for (int i = 0; i < 4; ++i) std::thread(work, 75).join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> forms = {{"conditions", by_conditions},
                                                   {"c11-conditions", by_c11_conditions},
                                                   {"semaphores", by_semaphores},
                                                   {"semaphores-late", by_semaphores_late},
                                                   {"locks", by_locks},
                                                   {"limits", by_limits},
                                                   {"atomics", by_atomics},
                                                   {"barriers", by_barriers},
                                                   {"pool", by_pool},
                                                   {"futures", by_futures},
                                                   {"calls", in_calls},
                                                   {"team", by_team},
                                                   {"team-barriers", by_teams_barriers},
                                                   {"teams", by_teams_in_teams},
                                                   {"lookers", by_team_of_lookers},
                                                   {"order", by_order},
                                                   {"tasks", by_tasks},
                                                   {"sleepers", by_sleepers},
                                                   {"processes", by_processes},
                                                   {"process-pool", by_pool_of_processes},
                                                   {"turns", by_turns},
                                                   {"callers", by_callers},
                                                   {"two-for-long", by_two_for_long},
                                                   {"pool-for-long", by_pool_for_long},
                                                   {"one-for-long", [] { work(300); }},
                                                   {"one-after-another", by_one_after_another}};
  if (argc != 2 || !forms.contains(argv[1])) return 2;
  const std::string form = argv[1];
  if (form == "pool") pool = new Pool(2);
  const int wanted =
      form == "turns" || form == "callers" ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::puts("not so many threads");
  } else {
    meet();
    forms.at(form)();
  }
  delete pool;
  if (making_ms > 0) std::printf("waited %.3f ms, made in %.3f ms\n", waited_ms, making_ms);
  MPI_Finalize();
  return 0;
}
