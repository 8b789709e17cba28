#include "cli/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

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

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_and_wait(const std::vector<std::string>& command) {
  // The child gets the default actions back, we ignore the keyboard's signals
  // until it has dealt with them.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t keyboard;
  sigemptyset(&keyboard);
  sigaddset(&keyboard, SIGINT);
  sigaddset(&keyboard, SIGQUIT);
  ::posix_spawnattr_setsigdefault(&attributes, &keyboard);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const auto old_int = ::signal(SIGINT, SIG_IGN);
  const auto old_quit = ::signal(SIGQUIT, SIG_IGN);
  const pid_t child = spawn(command, nullptr, &attributes);
  const int status = wait_for(child);
  ::signal(SIGINT, old_int);
  ::signal(SIGQUIT, old_quit);
  ::posix_spawnattr_destroy(&attributes);
  return status;
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

std::string data_directory() {
  return (std::filesystem::path(own_path()).parent_path().parent_path() / "share" / "foretrace")
      .string();
}

}  // namespace foretrace::cli
