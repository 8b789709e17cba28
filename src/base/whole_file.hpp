// A file's contents as one text, for what is small and read at once. Files that may be
// large have readers of their own (trace/trace_reader.hpp).
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace foretrace {

// Of a text whose last line has no end: what stands there may be half a number.
inline constexpr const char* kCutOffLine =
    "the file ends in the middle of this line; if it was not cut off, end the line";

// Empty too where it cannot be read: for what is not needed.
inline std::string read_if_possible(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Throws Error "PATH: cannot read WHAT: why".
inline std::string read_whole_file(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[4096];
  while (file.read(buffer, sizeof buffer), file.gcount() > 0)
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
  if (!file.eof()) throw Error(path + ": cannot read " + what + ": " + std::strerror(errno));
  return text;
}

}  // namespace foretrace
