// Texts in scripts for gnuplot.
#pragma once

#include <algorithm>
#include <string>

namespace foretrace::views {

// In single quotes, in which nothing is special but a quote.
inline std::string gnuplot_quoted(std::string text) {
  std::ranges::replace(text, '\'', '"');
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
  return "'" + text + "'";
}

}  // namespace foretrace::views
