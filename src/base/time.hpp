// Time: points and spans of virtual time, as a 64-bit count of picoseconds.
//
// Every clock, duration and time stamp of Foretrace is a Time. Equations are
// evaluated in double and enter through Time::from_seconds, which rounds once
// (half away from zero); all arithmetic after that is exact, and saturates as
// from_seconds does where the result does not fit.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace foretrace {

class Time {
 public:
  constexpr Time() = default;

  static constexpr Time ps(std::int64_t picoseconds) { return Time(picoseconds); }
  static constexpr Time ns(std::int64_t nanoseconds) { return Time(nanoseconds * 1000); }

  // Nearest picosecond to `seconds`. Values beyond +-9.2e6 s, infinities and
  // NaN do not fit: they saturate (NaN becomes zero); readers of files reject
  // them before they get here.
  static Time from_seconds(double seconds) { return nearest(seconds * 1e12); }

  // This span times `factor`, rounded once, as from_seconds rounds. (By way of
  // seconds it would be rounded three times, and may come out a picosecond away.)
  Time scaled(double factor) const {
    return factor == 1 ? *this : nearest(static_cast<double>(ps_) * factor);
  }

  static constexpr Time max() { return Time(INT64_MAX); }

  constexpr std::int64_t count_ps() const { return ps_; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time other) const {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(ps_, other.ps_, &sum)) return limit(ps_ < 0);
    return Time(sum);
  }
  constexpr Time operator-(Time other) const {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(ps_, other.ps_, &difference)) return limit(ps_ < 0);
    return Time(difference);
  }
  constexpr Time& operator+=(Time other) { return *this = *this + other; }
  constexpr Time& operator-=(Time other) { return *this = *this - other; }

 private:
  static Time nearest(double picoseconds) {
    if (std::isnan(picoseconds)) return Time();
    if (picoseconds >= 9.2e18) return max();
    if (picoseconds <= -9.2e18) return Time(INT64_MIN);
    // What std::llround gives, without the call: both steps are exact.
    const auto whole = static_cast<std::int64_t>(picoseconds);
    const double rest = picoseconds - static_cast<double>(whole);
    return Time(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
  }

  explicit constexpr Time(std::int64_t picoseconds) : ps_(picoseconds) {}
  static constexpr Time limit(bool negative) { return Time(negative ? INT64_MIN : INT64_MAX); }

  std::int64_t ps_ = 0;
};

}  // namespace foretrace
