// sleep() and its like as the program calls them (slept.hpp).
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "base/next_function.hpp"
#include "base/note_sleep.hpp"

FORETRACE_STANDS_IN unsigned sleep(unsigned seconds) {
  const auto real = foretrace::next<"sleep", unsigned(unsigned)>();
  return foretrace::note_sleep(std::int64_t{seconds} * 1'000'000'000,
                               [&] { return real(seconds); });
}

FORETRACE_STANDS_IN int usleep(useconds_t microseconds) {
  const auto real = foretrace::next<"usleep", int(useconds_t)>();
  return foretrace::note_sleep(std::int64_t{microseconds} * 1000,
                               [&] { return real(microseconds); });
}

FORETRACE_STANDS_IN int nanosleep(const timespec* asked, timespec* left) {
  const auto real = foretrace::next<"nanosleep", int(const timespec*, timespec*)>();
  return foretrace::note_sleep(asked ? foretrace::ns_of(*asked) : 0,
                               [&] { return real(asked, left); });
}

FORETRACE_STANDS_IN int thrd_sleep(const timespec* asked, timespec* left) {
  const auto real = foretrace::next<"thrd_sleep", int(const timespec*, timespec*)>();
  return foretrace::note_sleep(asked ? foretrace::ns_of(*asked) : 0,
                               [&] { return real(asked, left); });
}

FORETRACE_STANDS_IN int clock_nanosleep(clockid_t clock, int flags, const timespec* asked,
                                        timespec* left) {
  const auto real =
      foretrace::next<"clock_nanosleep", int(clockid_t, int, const timespec*, timespec*)>();
  std::int64_t length = asked ? foretrace::ns_of(*asked) : 0;
  if ((flags & TIMER_ABSTIME) != 0) {
    timespec now{};
    ::clock_gettime(clock, &now);
    length -= foretrace::ns_of(now);
    // The moment is one of virtual time, which the system does not know.
    if (foretrace::program_clock::is_virtual() && length > 0) {
      const timespec rest = foretrace::to_timespec(length);
      return foretrace::note_sleep(length, [&] { return real(clock, 0, &rest, nullptr); });
    }
  }
  return foretrace::note_sleep(length, [&] { return real(clock, flags, asked, left); });
}
