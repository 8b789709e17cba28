#include "base/file_size_signal.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>

namespace foretrace {
namespace {

sigset_t only_file_size() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

bool is_pending() {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() noexcept : was_pending_(is_pending()) {
  const sigset_t set = only_file_size();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// The signal goes to the thread that wrote: takes it back before it is let
// through, but not one that the program itself had waiting.
NoFileSizeSignal::~NoFileSizeSignal() {
  const sigset_t set = only_file_size();
  const timespec at_once{0, 0};
  if (!was_pending_ && is_pending()) ::sigtimedwait(&set, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int reason_of_short_write(int file) noexcept {
  rlimit most{};
  struct stat now {};
  const bool is_known = ::getrlimit(RLIMIT_FSIZE, &most) == 0 && ::fstat(file, &now) == 0;
  const bool at_limit = is_known && most.rlim_cur != RLIM_INFINITY &&
                        static_cast<rlim_t>(now.st_size) >= most.rlim_cur;
  return at_limit ? EFBIG : ENOSPC;
}

}  // namespace foretrace
