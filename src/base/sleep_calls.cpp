// sleep() and its like as the program calls them (slept.hpp).
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/slept.hpp"

namespace foretrace {
namespace {

std::int64_t ns_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The function that the program would have called without us.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace foretrace

#define FORETRACE_STANDS_IN extern "C" __attribute__((visibility("default")))

FORETRACE_STANDS_IN unsigned sleep(unsigned seconds) {
  static const auto real = foretrace::next<unsigned(unsigned)>("sleep");
  const unsigned left = real(seconds);
  foretrace::add_slept((static_cast<std::int64_t>(seconds) - left) * 1'000'000'000);
  return left;
}

FORETRACE_STANDS_IN int usleep(useconds_t microseconds) {
  static const auto real = foretrace::next<int(useconds_t)>("usleep");
  const int result = real(microseconds);
  if (result == 0) foretrace::add_slept(static_cast<std::int64_t>(microseconds) * 1000);
  return result;
}

FORETRACE_STANDS_IN int nanosleep(const timespec* asked, timespec* left) {
  static const auto real = foretrace::next<int(const timespec*, timespec*)>("nanosleep");
  const int result = real(asked, left);
  if (result == 0) foretrace::add_slept(foretrace::ns_of(*asked));
  if (result != 0 && errno == EINTR && left)
    foretrace::add_slept(foretrace::ns_of(*asked) - foretrace::ns_of(*left));
  return result;
}

FORETRACE_STANDS_IN int clock_nanosleep(clockid_t clock, int flags, const timespec* asked,
                                        timespec* left) {
  static const auto real =
      foretrace::next<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  timespec begin{};
  const bool until = (flags & TIMER_ABSTIME) != 0;
  if (until) ::clock_gettime(clock, &begin);
  const int result = real(clock, flags, asked, left);
  if (result == 0) foretrace::add_slept(foretrace::ns_of(*asked) - foretrace::ns_of(begin));
  if (result == EINTR && !until && left)
    foretrace::add_slept(foretrace::ns_of(*asked) - foretrace::ns_of(*left));
  return result;
}
