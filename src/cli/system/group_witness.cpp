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
// A question of ours to the witness. Of several signals that wait for it, it gets those first that
// are asked about: they have lower numbers.
const int kQuestion = SIGRTMIN;
constexpr std::int64_t kLongestAnswerNs = 1000 * kMillisecondNs;

// What both processes share. It stays, as a handler may still be looking when the witness has gone.
struct SeenSignals {
  std::atomic<std::int64_t> last[_NSIG];  // when each was last seen; 0: never
  std::atomic<std::int64_t> answers;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};
SeenSignals* seen = nullptr;
volatile pid_t witness = 0;

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
  for (;;) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal == kQuestion)
      ++seen->answers;
    else if (signal > 0)
      seen->last[signal].store(now_ns());
  }
}

void pause_for(std::int64_t ns) {
  const timespec pause{0, ns};
  ::nanosleep(&pause, nullptr);
}

// Returns when the witness has noted what it had got before: on a busy machine it may lack a core
// for long.
void ask_witness() {
  const std::int64_t before = seen->answers;
  const std::int64_t end = now_ns() + kLongestAnswerNs;
  if (witness <= 0 || ::kill(witness, kQuestion) != 0) return;
  while (seen->answers == before && now_ns() < end) pause_for(kMillisecondNs / 10);
}

}  // namespace

GroupWitness::GroupWitness(sigset_t signals) {
  if (!seen) seen = shared_memory();
  if (!seen) return;
  sigaddset(&signals, kQuestion);
  // Blocked before it starts, so that none ends it.
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t us = ::getpid();
  process_ = ::fork();
  if (process_ == 0) note_signals(signals, us);
  witness = process_;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

GroupWitness::~GroupWitness() {
  if (process_ <= 0) return;
  witness = 0;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupWitness::has_seen(int signal) {
  if (!seen) return false;
  const std::int64_t begin = now_ns();
  for (int look = 0; look < kWitnessLooks; ++look) {
    ask_witness();
    const std::int64_t last = seen->last[signal].load();
    if (last != 0 && begin - last < kOneEventNs) return true;
    pause_for(kBetweenLooksNs);
  }
  return false;
}

}  // namespace foretrace::cli
