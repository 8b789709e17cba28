// Writing a result whole or not at all.
#pragma once

#include <string>

namespace foretrace::cli {

// Writes a temporary file and renames it. Throws Error.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace foretrace::cli
