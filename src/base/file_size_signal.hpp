// NoFileSizeSignal: as long as it lives, writing beyond the limit on a file's
// size (ulimit -f) is an error of write(), and not a signal that would end the
// program. For this thread.
#pragma once

#include <csignal>

namespace foretrace {

class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t before_;
  bool was_pending_;
};

// Why less was written to the file than was asked for: EFBIG at that limit, ENOSPC elsewhere.
int reason_of_short_write(int file) noexcept;

}  // namespace foretrace
