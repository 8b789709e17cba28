// Picoseconds as decimals of a larger unit, exactly.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace foretrace::formats {

// Appends `time`, which is at least 0, in units of 10^-12 s * 10^`digits`: 1234 ps with 3
// digits are "1.234"; zeros at the end are left out.
inline void append_decimals(std::string& to, Time time, int digits) {
  std::uint64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  const auto ps = static_cast<std::uint64_t>(time.count_ps() < 0 ? 0 : time.count_ps());
  char buffer[24];
  const auto whole = std::to_chars(buffer, buffer + sizeof buffer, ps / unit);
  to.append(buffer, whole.ptr);
  std::uint64_t rest = ps % unit;
  if (rest == 0) return;
  to += '.';
  while (rest != 0) {
    unit /= 10;
    to += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
}

template <class Number>
void append_number(std::string& to, Number number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  to.append(buffer, end.ptr);
}

}  // namespace foretrace::formats
