// sleep() and its like as the program calls them (slept.hpp).
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/next_function.hpp"
#include "base/program_clock.hpp"
#include "base/slept.hpp"
#include "base/ticks.hpp"

namespace foretrace {
namespace {

// `sleep` returns 0, or why the thread did not sleep so long as it asked for.
template <class Sleep>
auto note_sleep(std::int64_t asked_ns, Sleep sleep) {
  const program_clock::Real shown;
  const std::int64_t begin = monotonic_ns();
  const auto result = sleep();
  const int error = errno;
  const std::int64_t passed = monotonic_ns() - begin;
  slept_so_far.passed += Time::ns(passed);
  // In whole, or cut off by a signal; otherwise it did not sleep at all.
  const std::int64_t slept = result == 0 ? asked_ns : std::min(asked_ns, passed);
  slept_so_far.asked += Time::ns(std::max<std::int64_t>(slept, 0));
  errno = error;
  return result;
}

}  // namespace
}  // namespace foretrace

FORETRACE_STANDS_IN unsigned sleep(unsigned seconds) {
  static const auto real = foretrace::next_function<unsigned(unsigned)>("sleep");
  return foretrace::note_sleep(std::int64_t{seconds} * 1'000'000'000,
                               [&] { return real(seconds); });
}

FORETRACE_STANDS_IN int usleep(useconds_t microseconds) {
  static const auto real = foretrace::next_function<int(useconds_t)>("usleep");
  return foretrace::note_sleep(std::int64_t{microseconds} * 1000,
                               [&] { return real(microseconds); });
}

FORETRACE_STANDS_IN int nanosleep(const timespec* asked, timespec* left) {
  static const auto real = foretrace::next_function<int(const timespec*, timespec*)>("nanosleep");
  return foretrace::note_sleep(asked ? foretrace::ns_of(*asked) : 0,
                               [&] { return real(asked, left); });
}

FORETRACE_STANDS_IN int clock_nanosleep(clockid_t clock, int flags, const timespec* asked,
                                        timespec* left) {
  static const auto real =
      foretrace::next_function<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
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
