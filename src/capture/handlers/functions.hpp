// Fn: a number for every function that this MPI's mpi.h declares.
#pragma once

#include <cstdint>

namespace foretrace::capture {

enum class Fn : std::uint16_t {
#define FORETRACE_FUNCTION(name, klass) name,
#include "mpi_functions.inc"
#undef FORETRACE_FUNCTION
  kCount
};

inline constexpr const char* kFunctionNames[] = {
#define FORETRACE_FUNCTION(name, klass) #name,
#include "mpi_functions.inc"
#undef FORETRACE_FUNCTION
};

inline constexpr const char* name_of(Fn fn) {
  return kFunctionNames[static_cast<int>(fn)];
}

}  // namespace foretrace::capture
