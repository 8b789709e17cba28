// The computer's clocks as the program reads them (program_clock.hpp).
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "base/next_function.hpp"
#include "base/program_clock.hpp"

using foretrace::next;
namespace program_clock = foretrace::program_clock;

FORETRACE_STANDS_IN int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto real = next<"clock_gettime", int(clockid_t, timespec*)>();
  const int result = real(clock, time);
  if (result == 0) program_clock::show(clock, *time);
  return result;
}

FORETRACE_STANDS_IN int timespec_get(timespec* time, int base) noexcept {
  const auto real = next<"timespec_get", int(timespec*, int)>();
  const int result = real(time, base);
  if (result == TIME_UTC) program_clock::show(CLOCK_REALTIME, *time);
  return result;
}

// Its declaration promises a `time` that is not null, but the function does without.
FORETRACE_STANDS_IN int foretrace_gettimeofday(timeval* time, void* zone) noexcept
    __asm__("gettimeofday");

int foretrace_gettimeofday(timeval* time, void* zone) noexcept {
  const auto real = next<"gettimeofday", int(timeval*, void*)>();
  const int result = real(time, zone);
  if (result != 0 || !time) return result;
  timespec exact{time->tv_sec, time->tv_usec * 1000};
  program_clock::show(CLOCK_REALTIME, exact);
  *time = {exact.tv_sec, exact.tv_nsec / 1000};
  return result;
}

// What it counts from is nobody's business, but the same for all its readings.
FORETRACE_STANDS_IN clock_t times(tms* usage) noexcept {
  const auto real = next<"times", clock_t(tms*)>();
  if (real(usage) == static_cast<clock_t>(-1)) return static_cast<clock_t>(-1);
  timespec exact{};
  ::clock_gettime(CLOCK_MONOTONIC, &exact);
  const long each_second = ::sysconf(_SC_CLK_TCK);
  return exact.tv_sec * each_second + exact.tv_nsec / (1'000'000'000 / each_second);
}

FORETRACE_STANDS_IN time_t time(time_t* place) noexcept {
  const auto real = next<"time", time_t(time_t*)>();
  timespec exact{real(nullptr), 0};
  program_clock::show(CLOCK_REALTIME, exact);
  if (place) *place = exact.tv_sec;
  return exact.tv_sec;
}
