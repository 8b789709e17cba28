#include "cli/system/output_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace foretrace::cli {

OutputClaim::OutputClaim(const std::string& output) {
  if (!take(output))
    throw Error(output +
                ": another run is writing it; wait for that run, or give this one its own "
                "output: -o FILE");
}

OutputClaim& OutputClaim::operator=(OutputClaim&& other) noexcept {
  std::swap(lock_, other.lock_);
  return *this;
}

bool OutputClaim::take(const std::string& output) {
  lock_.remove();
  if (is_held(output + ".part")) return false;
  try {
    lock_ = study::FileLock::try_for(output + ".lock");
    return lock_.holds();
  } catch (const Error&) {  // a file system without locks, a file of another user
    return true;
  }
}

bool is_held(const std::string& part, std::chrono::milliseconds patience) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  const int fd = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto looks_held = [fd] {
    return ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  };
  bool held = looks_held();
  for (auto left = patience; held && left > kPause; left -= kPause) {
    std::this_thread::sleep_for(kPause);
    held = looks_held();
  }
  ::close(fd);
  return held;
}

}  // namespace foretrace::cli
