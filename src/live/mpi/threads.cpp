// One thread at a time in the library. The lock is not taken before a second
// thread exists.
#include <sched.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "live/mpi/function.hpp"
#include "live/mpi/rank.hpp"

namespace foretrace::live {
namespace {

std::recursive_mutex door;
bool multiple = false;
thread_local int times_entered = 0;  // with the door locked

}  // namespace

void enter_library() {
  if (__libc_single_threaded) return;
  door.lock();
  ++times_entered;
}

void leave_library() {
  if (times_entered == 0) return;  // entered when there was one thread
  --times_entered;
  door.unlock();
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

void let_threads_in() {
  const CallState state = save_call();
  const int times = times_entered;
  for (int i = 0; i < times; ++i) leave_library();
  ::sched_yield();
  for (int i = 0; i < times; ++i) enter_library();
  restore_call(state);
}

}  // namespace foretrace::live
