// For the functions that stand in for those of the C library by which a thread sleeps (slept.hpp).
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "base/program_clock.hpp"
#include "base/slept.hpp"
#include "base/ticks.hpp"

namespace foretrace {

// Calls `wait`. `slept` says of its result, and of the nanoseconds that passed meanwhile, how many
// of them the thread slept as it asked for; nothing: it waited for something else.
template <class Wait, class Asleep>
auto note_wait(Wait wait, Asleep slept) {
  const program_clock::Real shown;
  const std::int64_t begin = monotonic_ns();
  const auto result = wait();
  const int error = errno;
  const std::int64_t passed = monotonic_ns() - begin;
  if (const std::optional<std::int64_t> asked = slept(result, passed))
    note_slept({Time::ns(std::max<std::int64_t>(*asked, 0)), Time::ns(passed)});
  errno = error;
  return result;
}

// `sleep` returns 0, or why the thread did not sleep so long as it asked for.
template <class Sleep>
auto note_sleep(std::int64_t asked_ns, Sleep sleep) {
  // In whole, or cut off by a signal; otherwise it did not sleep at all.
  return note_wait(sleep, [asked_ns](auto result, std::int64_t passed) {
    return std::optional(result == 0 ? asked_ns : std::min(asked_ns, passed));
  });
}

// A wait for something that does not come for so long is a sleep: it returns `timed_out` then.
// Below 0: there is no limit.
template <class Result, class Wait>
Result note_timeout(std::int64_t limit_ns, Result timed_out, Wait wait) {
  return note_wait(wait, [=](Result result, std::int64_t) {
    return result == timed_out && limit_ns >= 0 ? std::optional(limit_ns) : std::nullopt;
  });
}

}  // namespace foretrace
