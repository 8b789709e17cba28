// MpiFunction: one function of an mpi.h, as a wrapper of it has to be declared.
// The tool holds those of each MPI that it was built with.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace foretrace::wrap {

struct MpiFunction {
  std::string_view name;        // MPI_Send
  std::string_view result;      // int
  std::string_view parameters;  // const void *buf, int count, ...; void if there are none
  std::string_view arguments;   // buf, count, ...; those behind "..." are lost
};

// The arguments' names, one by one.
std::vector<std::string_view> argument_names(const MpiFunction& function);

// What differs in name from function to function, under one name: "count",
// "datatype", "peer", "tag", "comm". Nothing if the function has no such argument.
std::optional<std::string_view> argument_of(const MpiFunction& function, std::string_view role);

// Functions that turn handles from C to Fortran or back. Often macros; the MPI's
// Fortran library calls them for itself. No group holds them but their own.
bool is_conversion(std::string_view name);

}  // namespace foretrace::wrap
