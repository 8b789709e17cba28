// Ticks: the quickest clock of this machine that runs evenly and everywhere
// alike. The processor's time stamp counter where the kernel trusts it as well,
// else the monotonic clock's nanoseconds. Knows nothing of MPI.
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace foretrace {

inline std::int64_t ns_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}
// In nanoseconds, as the program is shown it.
inline std::int64_t now_on(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return ns_of(now);
}
// `ns` is not below 0.
inline timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// Monotonic time in nanoseconds, as all processes of this host see it; real, whatever the program
// is shown.
std::int64_t monotonic_ns();

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

// The counter and the monotonic clock at one moment, to some ten nanoseconds.
struct TickReading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
TickReading read_both_clocks();

}  // namespace foretrace
