// TOML as text, for the readers and writers of this part.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/error.hpp"

namespace foretrace::machine {

// The shortest text that reads back as the same double, with a point or
// exponent so that it stays a float in TOML. What no reader would take is not written: throws
// Error for a value that is not finite.
inline std::string number(double value) {
  if (!std::isfinite(value))
    throw Error("a value of the machine model is not a finite number; nothing is written");
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// A TOML basic string, always on one line.
inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace foretrace::machine
