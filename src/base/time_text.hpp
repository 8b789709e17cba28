// Times as people write them: "1.2ns". The one reader of them for the command line and
// for the parameters of machines.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace foretrace {

// A number >= 0 and ps, ns, us, ms or s, in seconds; nothing if it is none.
inline std::optional<double> parse_seconds(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ps", 1e12}, {"ns", 1e9}, {"us", 1e6}, {"µs", 1e6}, {"μs", 1e6}, {"ms", 1e3}, {"s", 1}};
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !(value >= 0) || !std::isfinite(value)) return std::nullopt;
  std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const auto& [name, in_a_second] : kUnits)
    if (unit == name) return value / in_a_second;
  return std::nullopt;
}

}  // namespace foretrace
