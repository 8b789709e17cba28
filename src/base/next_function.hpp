// For functions of the C library that a library of ours stands in for.
#pragma once

#include <dlfcn.h>

namespace foretrace {

// The function that the program would have called without us.
template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace foretrace

#define FORETRACE_STANDS_IN extern "C" __attribute__((visibility("default")))
