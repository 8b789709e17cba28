// One thread at a time in the library. The lock is not taken before a second
// thread exists.
#include <fcntl.h>
#include <mpi.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "mpi/core/function.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/other_threads.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/threads.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {
namespace {

std::recursive_mutex door;
int level = MPI_THREAD_SINGLE;
thread_local int times_entered = 0;  // with the door locked
std::atomic<int> at_door{0};         // threads that wait before it
std::atomic<int> giving_way{0};      // threads that sleep until another has come in
std::atomic<std::uint32_t> entries{0};

// One that waited at the door may have been cancelled meanwhile.
constexpr std::chrono::milliseconds kLongestWay{10};

// The states of the process's threads, read from files that stay open.
class ThreadStates {
 public:
  // Of those that are not the calling one.
  bool others_sleep() {
    if (!is_current() && !read_threads()) return false;
    const pid_t self = ::gettid();
    for (const Thread& thread : threads_)
      if (thread.id != self && !sleeps(thread)) return false;
    return true;
  }

 private:
  struct Thread {
    pid_t id;
    int file;
  };

  // A thread that ends makes room for another: then one of the files says so.
  bool is_current() const {
    struct stat status {};
    return !threads_.empty() && ::stat(kThreads, &status) == 0 &&
           status.st_nlink == threads_.size() + 2;
  }

  bool read_threads() {
    for (const Thread& thread : threads_) ::close(thread.file);
    threads_.clear();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(kThreads, error)) {
      const std::string name = entry.path().filename();
      Thread thread{0, ::open((entry.path() / "stat").c_str(), O_RDONLY | O_CLOEXEC)};
      std::from_chars(name.data(), name.data() + name.size(), thread.id);
      if (thread.file >= 0) threads_.push_back(thread);
    }
    return !error;
  }

  bool sleeps(const Thread& thread) {
    char text[128];
    const ssize_t bytes = ::pread(thread.file, text, sizeof text, 0);
    if (bytes <= 0) {  // it is no more
      threads_.clear();
      return false;
    }
    // The state stands behind the name in parentheses, which has 15 characters at most.
    const std::string_view line(text, static_cast<std::size_t>(bytes));
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string_view::npos && line.substr(name_end).starts_with(") S");
  }

  static constexpr const char* kThreads = "/proc/self/task";
  std::vector<Thread> threads_;
};

ThreadStates thread_states;

}  // namespace

bool other_threads_sleep() {
  return at_door.load() == 0 && thread_states.others_sleep() && at_door.load() == 0;
}

void enter_library() {
  if (__libc_single_threaded) return;
  if (!door.try_lock()) {
    ++at_door;
    door.lock();
    --at_door;
  }
  entries.fetch_add(1);
  if (giving_way.load() > 0) wake_sleeper(entries);
  ++times_entered;
}

void leave_library() {
  if (times_entered == 0) return;  // entered when there was one thread
  --times_entered;
  door.unlock();
}

void set_thread_level(int provided) {
  level = provided;
}

bool threads_may_call() {
  return level >= MPI_THREAD_SERIALIZED;
}

bool thread_multiple_level() {
  return level == MPI_THREAD_MULTIPLE;
}

bool threads_multiple() {
  return thread_multiple_level() && !__libc_single_threaded;
}

// One that is no more may have locked it.
void forget_other_threads() {
  new (&door) std::recursive_mutex;
  times_entered = 0;
  at_door = giving_way = 0;
}

// Who waits shall not wait for long because this thread is faster. It sleeps meanwhile: the system
// lets one that yields wait for all other programs as well.
void let_threads_in() {
  if (at_door.load() > 0) wait_for_threads();
}

void wait_for_threads() {
  const CallState state = save_call();
  const Line::CallAtHand call = line.call_at_hand();
  const int times = times_entered;
  const std::uint32_t before = entries.load();
  ++giving_way;
  for (int i = 0; i < times; ++i) leave_library();
  sleep_on(entries, before, kLongestWay);
  --giving_way;
  for (int i = 0; i < times; ++i) enter_library();
  restore_call(state);
  line.go_on(call);
}

}  // namespace foretrace::mpi
