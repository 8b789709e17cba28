// `foretrace architecture edit`: a page that edits a description, and what it asks for.
#pragma once

#include <string>

namespace foretrace::cli {

// Serves the editor of `file`, which may not be there yet, until a signal ends the process.
[[noreturn]] void edit_architecture(const std::string& file);

}  // namespace foretrace::cli
