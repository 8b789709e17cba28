// Names of functions as the linker knows them, made readable.
#pragma once

#include <string>

namespace foretrace::symbols {

// "_ZN4halo8exchangeEi" -> "halo::exchange": without parameters and result.
// What is no mangled name stays as it is.
std::string demangle(const std::string& name);

}  // namespace foretrace::symbols
