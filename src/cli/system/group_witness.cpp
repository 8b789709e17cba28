#include "cli/system/group_witness.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace foretrace::cli {
namespace {

constexpr std::int64_t kMillisecondNs = 1'000'000;
// timeout(1) signals the one process first and then the group: that is one event.
constexpr std::int64_t kOneEventNs = 1000 * kMillisecondNs;
constexpr int kWitnessLooks = 50;
constexpr std::int64_t kBetweenLooksNs = 5 * kMillisecondNs;

// When each signal was last seen, which both processes share; 0: never. It stays, as a handler may
// still be looking when the witness has gone.
struct SeenSignals {
  std::atomic<std::int64_t> last[_NSIG];
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};
SeenSignals* seen = nullptr;

SeenSignals* shared_memory() {
  void* const memory = ::mmap(nullptr, sizeof(SeenSignals), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SeenSignals*>(memory);
}

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * kMillisecondNs + time.tv_nsec;
}

[[noreturn]] void note_signals(const sigset_t& signals, pid_t parent) {
  // Other threads of the parent may hold locks that nobody lets go here: system calls only.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "signal-witness");  // `pkill foretrace` does not mean it
  ::syscall(SYS_close_range, 0, ~0U, 0);   // what the parent closes is closed
  for (;;)
    if (const int signal = ::sigwaitinfo(&signals, nullptr); signal > 0)
      seen->last[signal].store(now_ns());
}

}  // namespace

GroupWitness::GroupWitness(const sigset_t& signals) {
  if (!seen) seen = shared_memory();
  if (!seen) return;
  // Blocked before it starts, so that none ends it.
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t us = ::getpid();
  process_ = ::fork();
  if (process_ == 0) note_signals(signals, us);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

GroupWitness::~GroupWitness() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupWitness::has_seen(int signal) {
  if (!seen) return false;
  for (int look = 0; look < kWitnessLooks; ++look) {
    const std::int64_t last = seen->last[signal].load();
    if (last != 0 && now_ns() - last < kOneEventNs) return true;
    const timespec pause{0, kBetweenLooksNs};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace foretrace::cli
