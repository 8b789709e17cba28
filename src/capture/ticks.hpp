// Ticks: the quickest clock of this machine that runs evenly and everywhere
// alike. The processor's time stamp counter where the kernel trusts it as well,
// else the monotonic clock's nanoseconds. Knows nothing of MPI.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/cpu_clock.hpp"

namespace foretrace::capture {

// Whether read_ticks() may be asked for the counter: to be found out once.
bool has_even_counter();

inline std::uint64_t read_ticks(bool counter) {
#if defined(__x86_64__)
  if (counter) return __rdtsc();
#else
  (void)counter;
#endif
  return static_cast<std::uint64_t>(monotonic_ns());
}

}  // namespace foretrace::capture
