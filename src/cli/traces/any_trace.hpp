// A file of any format that can be read, for commands that read traces.
#pragma once

#include <string>

namespace foretrace::cli {

// `path` if it is a trace; else where a trace that was made of it lies until the command ends.
// Says on standard error what the file does not tell. Throws Error.
std::string as_trace(const std::string& path);

}  // namespace foretrace::cli
