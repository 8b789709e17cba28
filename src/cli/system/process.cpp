#include "cli/system/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "base/unfinished.hpp"
#include "cli/system/group_witness.hpp"

extern char** environ;

namespace foretrace::cli {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& command) {
  std::vector<char*> out;
  for (const std::string& word : command) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

pid_t spawn(const std::vector<std::string>& command, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes) {
  pid_t child = 0;
  const int result = ::posix_spawnp(&child, command.front().c_str(), actions, attributes,
                                    pointers(command).data(), environ);
  if (result != 0) throw Error("cannot start " + command.front() + ": " + std::strerror(result));
  return child;
}

// With the last two batch systems warn, and people ask for checkpoints; the others end a process.
constexpr std::array kPassedSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr auto kEndingSignals = std::span(kPassedSignals).first<4>();

volatile pid_t running = 0;  // whom run_and_wait() waits for
volatile sig_atomic_t interrupted = 0;
volatile sig_atomic_t not_passed_on = 0;  // came before it was known whom to pass it on to

// What all of our process group gets reaches the child by itself. Told twice, Open MPI's launcher
// leaves at once, and its ranks' shared memory lies in /dev/shm for ever.
void pass_on(int signal) {
  const int error = errno;
  if (std::ranges::find(kEndingSignals, signal) != kEndingSignals.end()) interrupted = signal;
  if (running <= 0)
    not_passed_on = signal;
  else if (!GroupWitness::has_seen(signal) && running > 0)
    ::kill(running, signal);
  errno = error;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void open_standard_streams() {
  // The lowest number that is free is the next one.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;
}

int run_and_wait(const std::vector<std::string>& command) {
  sigset_t passed;
  sigemptyset(&passed);
  for (const int signal : kPassedSignals) sigaddset(&passed, signal);
  const GroupWitness witness(passed);
  // The child gets the default actions back.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t ours;
  sigemptyset(&ours);
  struct sigaction pass = {};
  pass.sa_handler = pass_on;
  std::array<struct sigaction, kPassedSignals.size()> before{};
  for (std::size_t i = 0; i < before.size(); ++i) {
    ::sigaction(kPassedSignals[i], nullptr, &before[i]);
    // What is ignored, as by nohup, stays so.
    if (before[i].sa_handler == SIG_IGN) continue;
    sigaddset(&ours, kPassedSignals[i]);
    ::sigaction(kPassedSignals[i], &pass, nullptr);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &ours);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  int status = 0;
  try {
    not_passed_on = 0;
    running = spawn(command, nullptr, &attributes);
    if (not_passed_on != 0) ::kill(running, not_passed_on);
    status = wait_for(running);
  } catch (...) {
    running = 0;
    throw;
  }
  running = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    ::sigaction(kPassedSignals[i], &before[i], nullptr);
  ::posix_spawnattr_destroy(&attributes);
  return status;
}

OutputAside::OutputAside() : output_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
  if (output_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

OutputAside::~OutputAside() {
  if (output_ < 0) return;
  std::fflush(stdout);
  ::dup2(output_, STDOUT_FILENO);
  ::close(output_);
}

int interrupting_signal() {
  return interrupted;
}

void end_by_signal_if_interrupted() {
  if (interrupted == 0) return;
  std::fflush(nullptr);
  ::signal(interrupted, SIG_DFL);
  ::raise(interrupted);
}

void remove_unfinished_if_interrupted() {
  for (const int signal : kEndingSignals) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    ::signal(signal, [](int which) {
      remove_unfinished();
      ::signal(which, SIG_DFL);
      ::raise(which);
    });
  }
}

void say_if_interrupted(std::string_view words, void (*last)()) {
  static std::string said;
  static void (*last_thing)();
  said = words;
  last_thing = last;
  for (const int signal : kEndingSignals) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    ::signal(signal, [](int which) {
      // Nothing can be done where it cannot be said.
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
      last_thing();
      ::signal(which, SIG_DFL);
      ::raise(which);
    });
  }
}

void replace_process(const std::vector<std::string>& command) {
  ::execvp(command.front().c_str(), pointers(command).data());
  throw Error("cannot start " + command.front() + ": " + std::strerror(errno));
}

std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(std::string("cannot make a pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const pid_t child = spawn(command, &actions, nullptr);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  wait_for(child);
  return text;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::string library_directory() {
  return (std::filesystem::path(own_path()).parent_path().parent_path() / "lib" / "foretrace")
      .string();
}

bool is_preloadable(const std::string& library) {
  return library.find_first_of(" :") == std::string::npos;
}

void check_preloadable(const std::string& library) {
  if (is_preloadable(library)) return;
  throw Error(library +
              ": the dynamic linker loads nothing into a program from a path with a space or a "
              "colon (LD_PRELOAD); move Foretrace to one without");
}

std::string include_directory() {
  return (std::filesystem::path(own_path()).parent_path().parent_path() / "include").string();
}

std::string data_directory() {
  return (std::filesystem::path(own_path()).parent_path().parent_path() / "share" / "foretrace")
      .string();
}

}  // namespace foretrace::cli
