// CpuClock: the CPU time that the calling thread spends between two MPI calls.
//
// The kernel's thread CPU clock costs a system call. Here the monotonic clock
// stands in for it as long as the thread was never switched out: the thread
// leaves a mark in its rseq area, which the kernel clears when it pre-empts,
// moves or interrupts the thread. Where the mark is gone (or rseq is not
// there) the kernel's clock is read instead. Knows nothing of MPI.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace foretrace {

class CpuClock {
 public:
  // Begins an interval on the calling thread.
  void resume();
  // Begins one where the calling thread began.
  void resume_at_birth();
  // CPU time of the calling thread since resume(); zero if another thread
  // called resume().
  Time stop() const;

 private:
  const void* thread_ = nullptr;
  std::int64_t monotonic_ns_ = 0;  // at resume()
  // CPU clock minus monotonic clock of this thread while it is not switched
  // out; good as long as the mark stands.
  std::int64_t offset_ns_ = 0;
};

// Monotonic time in nanoseconds, as all processes of this host see it.
std::int64_t monotonic_ns();

}  // namespace foretrace
