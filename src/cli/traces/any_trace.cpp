#include "cli/traces/any_trace.hpp"

#include <cstdio>
#include <map>

#include "formats/foreign_trace.hpp"

namespace foretrace::cli {

std::string as_trace(const std::string& path) {
  static std::map<std::string, formats::ForeignTrace> made;
  const formats::Format* format = formats::foreign_format(path);
  if (!format) return path;
  const auto [found, added] = made.try_emplace(path, path, *format);
  if (added)
    for (const std::string& note : found->second.notes())
      std::fprintf(stderr, "foretrace: %s: %s\n", path.c_str(), note.c_str());
  return found->second.path();
}

}  // namespace foretrace::cli
