// Waits of threads for each other in forms that a library between the program and the C library
// might disturb:
//
//   odd_waits FORM [ARGUMENT]
//
// Prints "fine", and what else happened that has to happen each time.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

sem_t semaphore;

// The children make threads of their own, where the parent's lay that wait.
void fork_beside_waiting() {
  std::mutex mutex;
  std::condition_variable condition;
  bool over = false;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i)
    waiting.emplace_back([&] {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return over; });
    });
  usleep(20000);
  for (int child = 0; child < 8; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int i = 0; i < 50; ++i) {
        std::thread([] { sem_post(&semaphore); }).join();
        sem_wait(&semaphore);
        std::condition_variable own;
        std::mutex own_mutex;
        bool told = false;
        std::thread other([&] {
          const std::lock_guard lock(own_mutex);
          told = true;
          own.notify_one();
        });
        {
          std::unique_lock lock(own_mutex);
          own.wait(lock, [&] { return told; });
        }
        other.join();
      }
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    std::printf("child %d: %x\n", child, static_cast<unsigned>(status));
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  condition.notify_all();
  for (std::thread& thread : waiting) thread.join();
}

void wake(int) {
  sem_post(&semaphore);
}

// The handler wakes whom the thread that it interrupts wakes, too.
void wake_in_handler() {
  std::atomic<bool> over = false;
  std::thread waiting([&] {
    while (!over) sem_wait(&semaphore);
  });
  struct sigaction action {};
  action.sa_handler = wake;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval every{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, nullptr);
  for (int i = 0; i < 100000; ++i) sem_post(&semaphore);
  every = {};
  setitimer(ITIMER_REAL, &every, nullptr);
  over = true;
  sem_post(&semaphore);
  waiting.join();
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
std::atomic<bool> is_there = false, goes_on = false;

void* wait_for_ever(void*) {
  is_there = true;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push([](void*) { pthread_mutex_unlock(&mutex); }, nullptr);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return nullptr;
}

void* take_and_post(void*) {
  is_there = true;
  for (;;) {
    sem_wait(&semaphore);
    sem_post(&semaphore);
  }
}

// To signal is no place where a thread may be cancelled, nor is to end.
void* sleep_when_cancelled(void*) {
  is_there = true;
  while (!goes_on) sched_yield();
  usleep(0);
  return nullptr;
}

void* signal_when_cancelled(void* as_it_should) {
  is_there = true;
  while (!goes_on) sched_yield();
  pthread_cond_signal(&condition);
  return as_it_should;
}

void cancel(const char* form) {
  using Body = void*(void*);
  Body* const body = std::strcmp(form, "waiting") == 0    ? wait_for_ever
                     : std::strcmp(form, "free") == 0     ? take_and_post
                     : std::strcmp(form, "sleeping") == 0 ? sleep_when_cancelled
                                                          : signal_when_cancelled;
  if (body == take_and_post) sem_post(&semaphore);
  pthread_t thread;
  pthread_create(&thread, nullptr, body, &is_there);
  while (!is_there) sched_yield();
  usleep(5000);
  pthread_cancel(thread);
  goes_on = true;
  void* result = nullptr;
  pthread_join(thread, &result);
  std::puts(result == PTHREAD_CANCELED ? "cancelled" : result == &is_there ? "ended" : "neither");
}

sigjmp_buf out;

void jump(int) {
  siglongjmp(out, 1);
}

__attribute__((noinline)) void wait_until_jump() {
  char room[256];
  std::memset(room, 0, sizeof room);
  if (sigsetjmp(out, 1) == 0)
    while (sem_wait(&semaphore) != 0) {
    }
}

void leave_by_jump() {
  signal(SIGALRM, jump);
  const itimerval once{{0, 0}, {0, 10000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  wait_until_jump();
  std::thread([] { sem_post(&semaphore); }).join();
  sem_wait(&semaphore);
}

void load(const char* plugin) {
  void* const module = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (!module) std::exit(3);
  std::printf("%d\n", reinterpret_cast<int (*)()>(dlsym(module, "region"))());
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  sem_init(&semaphore, 0, 0);
  const std::string form = argc > 1 ? argv[1] : "";
  if (form == "fork") fork_beside_waiting();
  if (form == "handler") wake_in_handler();
  if (form == "cancel") cancel(argv[2]);
  if (form == "jump") leave_by_jump();
  if (form == "load") load(argv[2]);
  std::puts("fine");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
