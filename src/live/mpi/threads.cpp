// One thread at a time in the library. The lock is not taken before a second
// thread exists.
#include "live/mpi/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/single_threaded.h>

#include <cstdint>
#include <utility>

#include "live/mpi/function.hpp"
#include "live/mpi/rank.hpp"

namespace foretrace::live {
namespace {

// Lets threads in one by one, in the order in which they came: one that polls would
// else be back before those that post what it polls for. Has no destructor, as programs
// call MPI until their very end.
class Door {
 public:
  void enter() {
    ::pthread_mutex_lock(&mutex_);
    wait_for_turn();
    ::pthread_mutex_unlock(&mutex_);
  }
  void leave() {
    ::pthread_mutex_lock(&mutex_);
    open();
    ::pthread_mutex_unlock(&mutex_);
  }
  void sleep_until_news() {
    ::pthread_mutex_lock(&mutex_);
    const std::uint64_t known = news_;
    open();
    while (news_ == known) ::pthread_cond_wait(&changed_, &mutex_);
    wait_for_turn();
    ::pthread_mutex_unlock(&mutex_);
  }
  void tell_news() {
    ::pthread_mutex_lock(&mutex_);
    ++news_;
    ::pthread_cond_broadcast(&changed_);
    ::pthread_mutex_unlock(&mutex_);
  }

 private:
  void wait_for_turn() {
    const std::uint64_t ticket = tickets_++;
    while (ticket != served_) ::pthread_cond_wait(&changed_, &mutex_);
  }
  void open() {
    ++served_;
    if (tickets_ != served_) ::pthread_cond_broadcast(&changed_);
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  std::uint64_t tickets_ = 0;
  std::uint64_t served_ = 0;  // tickets before this one
  std::uint64_t news_ = 0;
};

constinit Door door;
bool multiple = false;
thread_local int times_entered = 0;  // with the door locked

}  // namespace

void enter_library() {
  if (__libc_single_threaded) return;
  if (times_entered++ == 0) door.enter();
}

void leave_library() {
  if (times_entered == 0) return;  // entered when there was one thread
  if (--times_entered == 0) door.leave();
}

void set_thread_level(int level) {
  multiple = level == MPI_THREAD_MULTIPLE;
}

bool thread_multiple_level() {
  return multiple;
}

bool threads_multiple() {
  return multiple && !__libc_single_threaded;
}

namespace {

template <class Wait>
void wait_outside(const Wait& wait) {
  const CallState state = save_call();
  const int times = std::exchange(times_entered, 0);
  wait(times > 0);
  times_entered = times;
  restore_call(state);
}

}  // namespace

void let_threads_in() {
  wait_outside([](bool inside) {
    if (inside) door.leave();
    ::sched_yield();
    if (inside) door.enter();
  });
}

void step_aside() {
  wait_outside([](bool inside) {
    if (!inside) return;
    door.leave();
    door.enter();
  });
}

void sleep_until_news() {
  wait_outside([](bool inside) {
    if (inside) door.sleep_until_news();
  });
}

void tell_news() {
  door.tell_news();
}

}  // namespace foretrace::live
