#include "views/draw/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace foretrace::views {
namespace {

struct Unit {
  double size;
  const char* name;
};

// `value` in the largest unit that leaves a number of at least 1. Looks again
// after rounding to four digits: 999.96 ns is 1 us, not "1000 ns".
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units, double* unit = nullptr) {
  for (std::size_t i = 0; i < N; ++i) {
    const double scaled = value / units[i].size;
    const bool last = i + 1 == N;
    const double next = last ? INFINITY : units[i + 1].size / units[i].size;
    const std::string text = fmt::format("{:.4g}", std::abs(scaled));
    if (last || std::stod(text) < next) {
      // %g turns to exponents from 10^4 on; whole numbers read better there.
      const std::string digits = std::abs(scaled) >= 9999.5 ? fmt::format("{:.0f}", scaled)
                                                            : fmt::format("{:.4g}", scaled);
      if (unit) *unit = units[i].size;
      return digits + " " + units[i].name;
    }
  }
  return {};
}

}  // namespace

std::string format_time(Time time) {
  return format_picoseconds(static_cast<double>(time.count_ps()));
}

std::string format_picoseconds(double ps) {
  if (std::abs(ps) < 0.5) return "0 s";
  static constexpr std::array<Unit, 5> kUnits{
      {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}, {1e12, "s"}}};
  return in_units(ps, kUnits);
}

std::string format_bytes(Bytes bytes) {
  if (bytes.count < 10240) return fmt::format("{} B", bytes.count);
  static constexpr std::array<Unit, 5> kUnits{{{1024.0, "KiB"},
                                               {1048576.0, "MiB"},
                                               {1073741824.0, "GiB"},
                                               {1099511627776.0, "TiB"},
                                               {1125899906842624.0, "PiB"}}};
  const auto count = static_cast<double>(bytes.count);
  double unit = 1;
  const std::string text = in_units(count, kUnits, &unit);
  // Four digits with a point show that they are rounded; "64 KiB" would not.
  constexpr std::size_t kRounded = 5;
  const std::string digits = text.substr(0, text.find(' '));
  const bool looks_exact = digits.size() < kRounded || digits.find('.') == std::string::npos;
  if (looks_exact && std::stod(digits) * unit != count) return fmt::format("{} B", bytes.count);
  return text;
}

std::string format_ratio(double ratio) {
  if (std::isinf(ratio)) return "inf";
  return fmt::format("{:.4g}", ratio);
}

std::string format_percent(double ratio) {
  return fmt::format("{:.1f} %", ratio * 100);
}

double to_seconds(Time time) {
  return static_cast<double>(time.count_ps()) / 1e12;
}

std::string difference_text(Time difference) {
  return (difference > Time() ? "+" : "") + format_time(difference);
}

std::string wait_text(Time wait, bool known) {
  return known ? format_time(wait) : "unknown";
}

double share(Time part, Time whole) {
  return whole == Time() ? 0 : to_seconds(part) / to_seconds(whole);
}

}  // namespace foretrace::views
