#include "study/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace foretrace::study {
namespace {

int open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) throw Error(path + ": cannot be made: " + std::strerror(errno));
  return fd;
}

void lock(int fd, int how, const std::string& path) {
  while (::flock(fd, how) != 0)
    if (errno != EINTR) {
      const int why = errno;
      ::close(fd);
      throw Error(path + ": cannot be locked: " + std::strerror(why));
    }
}

}  // namespace

FileLock::~FileLock() {
  release();
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void FileLock::release() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

FileLock FileLock::wait_for(const std::string& path, bool alone) {
  FileLock out;
  const int fd = open_file(path);
  lock(fd, alone ? LOCK_EX : LOCK_SH, path);
  out.fd_ = fd;
  return out;
}

FileLock FileLock::try_for(const std::string& path) {
  FileLock out;
  const int fd = open_file(path);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0)
    out.fd_ = fd;
  else
    ::close(fd);
  return out;
}

HostPlace::HostPlace(bool alone) {
  const std::string base = "/tmp/foretrace-study-" + std::to_string(::getuid());
  const FileLock gate = FileLock::wait_for(base + ".gate", true);
  place_ = FileLock::wait_for(base + ".place", alone);
}

}  // namespace foretrace::study
