// Fn: a number for every function that this MPI's mpi.h declares.
#pragma once

#include <cstdint>
#include <string_view>

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

// kCount: this MPI's mpi.h does not declare it.
constexpr Fn function_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Fn::kCount); ++i)
    if (kFunctionNames[i] == name) return static_cast<Fn>(i);
  return Fn::kCount;
}

}  // namespace foretrace::capture
