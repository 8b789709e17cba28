// The characterisation program's clock: nanoseconds of CLOCK_MONOTONIC, which
// all processes of a host share, and a wait that ends at a given reading.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace foretrace::measure {

inline std::int64_t unshifted_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// Makes this process's clock differ from its host's; only tests do that.
struct ClockShift {
  bool on = false;
  std::int64_t from = 0;    // when the drift began
  std::int64_t offset = 0;  // ns
  double drift = 0;         // seconds per second

  std::int64_t at(std::int64_t reading) const {
    return offset + static_cast<std::int64_t>(drift * static_cast<double>(reading - from));
  }
};
inline ClockShift clock_shift;

inline std::int64_t now_ns() {
  const std::int64_t reading = unshifted_ns();
  if (clock_shift.on) [[unlikely]]
    return reading + clock_shift.at(reading);
  return reading;
}

// How often the calling thread was switched out so far against its will: not where it went to
// sleep by itself, as some MPI libraries wait.
long context_switches();

struct TimerFacts {
  double resolution = 0;  // seconds: the smallest step seen between two readings
  double overhead = 0;    // seconds: what one reading adds to a measured span
};

TimerFacts examine_timer();

// Spins until the clock reads `when` or later and returns that reading. With
// `yield` other processes on the core get their turn.
inline std::int64_t spin_until(std::int64_t when, bool yield) {
  for (;;) {
    const std::int64_t reading = now_ns();
    if (reading >= when) return reading;
    if (yield && when - reading > 50'000) sched_yield();
  }
}

}  // namespace foretrace::measure
