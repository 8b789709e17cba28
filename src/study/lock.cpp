#include "study/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace foretrace::study {
namespace {

int open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) throw Error(path + ": cannot be made: " + std::strerror(errno));
  return fd;
}

// False: somebody else has it, and `how` says not to wait.
bool lock(int fd, int how, const std::string& path) {
  while (::flock(fd, how) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw Error(path + ": cannot be locked: " + std::strerror(errno));
  }
  return true;
}

}  // namespace

FileLock::~FileLock() {
  release();
}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

void FileLock::release() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void FileLock::remove() {
  if (fd_ >= 0) ::unlink(path_.c_str());
  release();
}

bool FileLock::is_at_its_path() const {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd_, &opened) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

FileLock FileLock::wait_for(const std::string& path, bool alone) {
  for (;;) {
    FileLock out(open_file(path), path);
    lock(out.fd_, alone ? LOCK_EX : LOCK_SH, path);
    if (out.is_at_its_path()) return out;
  }
}

FileLock FileLock::try_for(const std::string& path, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(50);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    FileLock out(open_file(path), path);
    if (!lock(out.fd_, LOCK_EX | LOCK_NB, path)) {
      if (Clock::now() >= end) return {};
      std::this_thread::sleep_for(kPause);
    } else if (out.is_at_its_path()) {
      return out;
    }
  }
}

HostPlace::HostPlace(bool alone) {
  const std::string base = "/tmp/foretrace-study-" + std::to_string(::getuid());
  const FileLock gate = FileLock::wait_for(base + ".gate", true);
  place_ = FileLock::wait_for(base + ".place", alone);
}

}  // namespace foretrace::study
