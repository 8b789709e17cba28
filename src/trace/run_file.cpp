#include "trace/run_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/error.hpp"
#include "base/file_size_signal.hpp"

namespace foretrace::trace {
namespace {

// Where a file system has no locks, none is held.
bool lock(int fd, int how) {
  int result = 0;
  do {
    result = ::flock(fd, how);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

// Its maker has not come to lock it, or to write to it, yet.
bool is_just_made(const struct stat& status) {
  return status.st_size == 0 && ::time(nullptr) - status.st_mtime <= 1;
}

}  // namespace

void remove_left_over(const std::string& path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) break;
    const bool free = lock(fd, LOCK_EX | LOCK_NB);
    struct stat ours {};
    struct stat named {};
    const bool same = ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
                      ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    // Nobody else removes it while it is locked.
    const bool just_made = free && same && is_just_made(ours);
    if (free && same && !just_made) ::unlink(path.c_str());
    ::close(fd);
    if (!free)
      throw Error(path +
                  ": another run is writing it; wait for that run, or give this one its own "
                  "output: -o FILE");
    if (same && !just_made) return;
    constexpr timespec kMoment{0, 5'000'000};
    ::nanosleep(&kMoment, nullptr);
  }
  if (errno != ENOENT) ::unlink(path.c_str());
}

bool is_written_here(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  int result = 0;
  do {
    result = ::flock(fd, LOCK_SH | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  const bool held = result != 0;
  ::close(fd);
  return held;
}

RunFile::RunFile(const std::string& path, std::string_view start, const char* what) {
  constexpr int kTries = 20;  // others may make one at the same time
  for (int i = 0; i < kTries && fd_ < 0; ++i) {
    remove_left_over(path);
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) throw Error(path + ": cannot create the " + what + ": " + std::strerror(errno));
  // Whatever the program's umask takes away: the other ranks and the user are to read it.
  struct stat status {};
  if (::fstat(fd_, &status) == 0) ::fchmod(fd_, (status.st_mode & 07777) | S_IRUSR | S_IWUSR);
  lock(fd_, LOCK_EX);
  const NoFileSizeSignal quiet;
  const ssize_t written = ::write(fd_, start.data(), start.size());
  if (written == static_cast<ssize_t>(start.size())) return;
  const std::string reason = std::strerror(written < 0 ? errno : reason_of_short_write(fd_));
  ::unlink(path.c_str());
  let_go();
  throw Error(path + ": cannot write the " + what + ": " + reason);
}

RunFile::RunFile(RunFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RunFile& RunFile::operator=(RunFile&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void RunFile::let_go() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void RunFile::remove(const std::string& path) noexcept {
  if (fd_ >= 0) ::unlink(path.c_str());
  let_go();
}

}  // namespace foretrace::trace
