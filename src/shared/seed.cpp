#include "shared/seed.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "shared/shared_memory.hpp"

namespace foretrace::live {
namespace {

bool is_single_threaded() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// What fork() does beside the copying where there is one thread: where the C library
// keeps the thread's number, and the list of locks to be freed at its death.
struct ThreadState {
  int* number = nullptr;
  void* locks = nullptr;
  std::size_t locks_bytes = 0;

  bool read() {
    return ::prctl(PR_GET_TID_ADDRESS, &number) == 0 && number && *number == ::gettid() &&
           ::syscall(SYS_get_robust_list, 0, &locks, &locks_bytes) == 0;
  }
};

// fork(), but the new process is a child of the simulator as this one is, and dies
// with it.
pid_t copy_beside(const ThreadState& state) {
  const pid_t process = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD,
                nullptr, nullptr, state.number, nullptr));
  if (process != 0) return process;
  ::syscall(SYS_set_robust_list, state.locks, state.locks_bytes);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != SharedMemory::header().seed.simulator) ::_exit(127);
  return 0;
}

// Where a variable stands in the environment. Not by setenv() and its kin: a shell has its own,
// which before its main() do not reach what it will read.
char** find_variable(std::string_view name) {
  char** entry = environ;
  while (*entry && !(std::string_view(*entry).starts_with(name) && (*entry)[name.size()] == '='))
    ++entry;
  return *entry ? entry : nullptr;
}

// Rank 0 has the same ones, so that these take their places also in main's third argument.
void replace_variable(const char* name, const std::string& value) {
  if (char** const entry = find_variable(name))
    *entry = ::strdup((std::string(name) + "=" + value).c_str());
}

void remove_variable(const char* name) {
  char** entry = find_variable(name);
  if (!entry) return;
  do *entry = entry[1];
  while (*++entry);
}

void become(int descriptor, int rank) {
  replace_variable(kVariable, std::to_string(descriptor) + ":" + std::to_string(rank));
  for (const auto& [name, text] :
       launcher_variables(SharedMemory::header().launcher, SharedMemory::slot(rank).world))
    replace_variable(name, text);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0) return;
  ::dup2(null, STDIN_FILENO);
  ::close(null);
}

// Returns in the ranks.
void make_ranks(SeedLine& line, const ThreadState& state, int descriptor) {
  line.process.store(::getpid(), std::memory_order_release);
  for (;;) {
    const std::uint32_t request = line.request.load(std::memory_order_acquire);
    if (request == 0) {
      sleep_on(line.request, 0);
      continue;
    }
    if (request == SeedLine::kStop) ::_exit(0);
    line.request.store(0, std::memory_order_relaxed);
    const pid_t process = copy_beside(state);
    if (process == 0) return become(descriptor, static_cast<int>(request - 1));
    line.reply.store(process > 0 ? static_cast<std::uint32_t>(process) : SeedLine::kNoProcess,
                     std::memory_order_release);
    wake_sleeper(line.reply);
  }
}

}  // namespace

void leave_seed() {
  const char* value = std::getenv(kVariable);
  int descriptor = -1;
  int rank = -1;
  if (!value || std::sscanf(value, "%d:%d", &descriptor, &rank) != 2 ||
      !SharedMemory::attach(descriptor) || !std::getenv(kSeedVariable))
    return;
  remove_variable(kSeedVariable);
  ThreadState state;
  if (!is_single_threaded() || !state.read()) return;
  // What is not written yet must not be written by each.
  std::fflush(nullptr);
  if (copy_beside(state) == 0) make_ranks(SharedMemory::header().seed, state, descriptor);
}

bool has_seed() {
  return SharedMemory::header().seed.process.load(std::memory_order_acquire) != 0;
}

pid_t grow(int rank) {
  constexpr std::chrono::milliseconds kLook{200};
  SeedLine& line = SharedMemory::header().seed;
  line.reply.store(0, std::memory_order_relaxed);
  line.request.store(static_cast<std::uint32_t>(rank) + 1, std::memory_order_release);
  wake_sleeper(line.request);
  std::uint32_t reply = 0;
  while ((reply = line.reply.load(std::memory_order_acquire)) == 0) {
    if (sleep_on(line.reply, 0, kLook)) continue;
    siginfo_t info{};
    const auto seed = static_cast<id_t>(line.process.load());
    if (::waitid(P_PID, seed, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
      continue;
    reply = line.reply.load(std::memory_order_acquire);
    break;
  }
  if (reply != 0 && reply != SeedLine::kNoProcess) return static_cast<pid_t>(reply);
  dismiss_seed();
  return -1;
}

void dismiss_seed() {
  SeedLine& line = SharedMemory::header().seed;
  line.process.store(0);
  line.request.store(SeedLine::kStop, std::memory_order_release);
  wake_sleeper(line.request);
}

}  // namespace foretrace::live
