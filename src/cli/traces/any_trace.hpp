// A file of any format that can be read, for commands that read traces.
#pragma once

#include <string>

namespace foretrace::cli {

// `path` if it is a trace; else where a trace that was made of it lies until the command ends.
// What the file does not tell is among the notes of that trace. Throws Error.
std::string as_trace(const std::string& path);

}  // namespace foretrace::cli
