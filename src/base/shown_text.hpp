// Text for a message: printable and short, whatever came in.
//
// For the readers of what people type. Inline: the headers and sources that use it are in
// parts that share nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrace {

inline std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string out;
  for (const char c : text.substr(0, kMost)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > kMost ? "..." : "");
}

}  // namespace foretrace
