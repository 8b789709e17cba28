// Numbers in messages and descriptions of architectures.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/size_text.hpp"

namespace foretrace::architecture {

// The shortest text that reads back to the number.
inline std::string format_number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : std::string("?");
}

inline std::optional<double> parse_bytes(const std::string& text) {
  if (const auto bytes = parse_size(text)) return static_cast<double>(*bytes);
  return std::nullopt;
}

}  // namespace foretrace::architecture
