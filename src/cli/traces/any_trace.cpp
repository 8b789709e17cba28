#include "cli/traces/any_trace.hpp"

#include <map>

#include "formats/foreign_trace.hpp"

namespace foretrace::cli {

std::string as_trace(const std::string& path) {
  static std::map<std::string, formats::ForeignTrace> made;
  const formats::Format* format = formats::foreign_format(path);
  if (!format) return path;
  return made.try_emplace(path, path, *format).first->second.path();
}

}  // namespace foretrace::cli
