#include "study/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/undisturbed.hpp"
#include "base/whole_file.hpp"

extern char** environ;

namespace foretrace::study {
namespace {

using Clock = std::chrono::steady_clock;

// What launchers tell the processes that they start. A user's own OMPI_MCA_ goes with them: under
// mpirun nobody can tell them apart.
bool is_of_launcher(std::string_view variable) {
  for (const std::string_view prefix :
       {"OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDI_", "HYDRA_", "MPI_LOCAL", "MPIR_", "SLURM_PROCID",
        "SLURM_LOCALID", "SLURM_NODEID", "SLURM_TASK_PID", "SLURM_STEP"})
    if (variable.starts_with(prefix)) return !variable.starts_with("OMPI_ALLOW_RUN_AS_ROOT");
  return false;
}

std::vector<char*> environment() {
  static const bool launched = find_launcher().has_value();
  std::vector<char*> out;
  for (char** each = environ; *each; ++each)
    if (!launched || !is_of_launcher(*each)) out.push_back(*each);
  out.push_back(nullptr);
  return out;
}

std::string unused_file(const std::string& folder) {
  static std::atomic<unsigned> number = 0;
  return folder + "/out-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
}

// Between fork and exec: only what may be called there. SIGTERM, which our own commands pass on to
// the launchers that they start. Our handlers are not the child's.
[[noreturn]] void become(char* const* words, char* const* variables, const char* out,
                         const char* err, pid_t parent, Undisturbed& undisturbed) {
  for (const int each : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction ours = {};
    ::sigaction(each, nullptr, &ours);
    if (ours.sa_handler != SIG_IGN) ::signal(each, SIG_DFL);
  }
  undisturbed.end();
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const int in = ::open("/dev/null", O_RDONLY);
  const int to = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int too = ::open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || to < 0 || too < 0) ::_exit(126);
  ::dup2(in, 0);
  ::dup2(to, 1);
  ::dup2(too, 2);
  ::execve(words[0], words, variables);
  ::_exit(127);
}

// What can be waited on until a child ends; on old kernels nothing can.
class Ending {
 public:
  explicit Ending(pid_t child) : fd_(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))) {}
  ~Ending() {
    if (fd_ >= 0) ::close(fd_);
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // At most so many seconds; without the kernel's help a moment, so that the caller looks again.
  void wait(double seconds) const {
    pollfd poll{fd_, POLLIN, 0};
    const double most = fd_ >= 0 ? kLongestWait : kPause;
    ::poll(&poll, fd_ >= 0 ? 1 : 0, static_cast<int>(std::ceil(1e3 * std::min(seconds, most))));
  }

 private:
  static constexpr double kLongestWait = 60;
  static constexpr double kPause = 2e-3;
  int fd_;
};

// Whom kill(2) asks to end, for a signal's handler: a process, or a group (below zero); 0: nobody.
// As many as a study may run at once.
std::array<std::atomic<pid_t>, 4096> running{};
std::atomic<bool> ending = false;

// This process is about to end.
void stay_if_ending() {
  while (ending) ::pause();
}

// Its place among those that run; nullptr: there are too many.
std::atomic<pid_t>* note(pid_t whom) {
  for (auto& place : running)
    if (pid_t nobody = 0; place.compare_exchange_strong(nobody, whom)) return &place;
  return nullptr;
}

bool any_is_left() {
  return std::ranges::any_of(running, [](const std::atomic<pid_t>& place) {
    const pid_t child = std::abs(place.load());
    if (child == 0) return false;
    ::waitpid(child, nullptr, WNOHANG);
    return ::kill(-child, 0) == 0;
  });
}

// False: the time is over.
bool wait_until(pid_t child, double timeout, int& status) {
  const auto start = Clock::now();
  const Ending ending(child);
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) {
      stay_if_ending();  // end_children() has it
      throw Error("a child process is lost");
    }
    const double left = timeout - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) return false;
    ending.wait(left);
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const std::string& folder,
                      double timeout, Asked asked) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::vector<char*> variables = environment();
  const std::string out = unused_file(folder);
  const std::string err = unused_file(folder);
  const auto start = Clock::now();
  const pid_t parent = ::getpid();
  Undisturbed undisturbed;
  stay_if_ending();
  const pid_t child = ::fork();
  if (child < 0) throw Error("cannot start " + command.front() + ": " + std::strerror(errno));
  if (child == 0)
    become(words.data(), variables.data(), out.c_str(), err.c_str(), parent, undisturbed);
  ::setpgid(child, child);  // whoever of us two is first
  const pid_t whom = asked == Asked::group ? -child : child;
  std::atomic<pid_t>* const place = note(whom);
  undisturbed.end();
  ChildResult result;
  int status = 0;
  result.timed_out = !wait_until(child, timeout, status);
  if (result.timed_out) {
    ::kill(whom, SIGTERM);
    if (!wait_until(child, 5, status)) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
  }
  if (place) place->store(0);
  stay_if_ending();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_if_possible(out);
  result.err = read_if_possible(err);
  ::unlink(out.c_str());
  ::unlink(err.c_str());
  return result;
}

// Calls only what a handler may.
void end_children() {
  constexpr timespec kBetweenLooks{0, 10'000'000};
  constexpr int kLooks = 500;
  ending = true;
  for (const auto& place : running)
    if (const pid_t whom = place; whom != 0) ::kill(whom, SIGTERM);
  for (int i = 0; i < kLooks && any_is_left(); ++i) ::nanosleep(&kBetweenLooks, nullptr);
}

}  // namespace foretrace::study
