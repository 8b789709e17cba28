// Fortran programs: an MPI's Fortran library turns each call into one of a C
// function, but names the profiling function (PMPI_X), which no wrapper sees.
// Those calls are directed to the wrappers here, by the library's own table of
// imports. So handles, statuses, constants, and logicals are converted by the
// library that knows them, and a Fortran call is treated as the C call is.
//
// Does not see MPI, and defines none of its names.
#pragma once

#include <span>

namespace foretrace::capture {

// What stands in for a function of MPI where a Fortran library calls it.
struct FortranCall {
  const char* name;  // MPI_X
  void* function;    // with MPI_X's signature
};

// Redirects the calls of all Fortran libraries that are loaded. `calls` is
// sorted by name and lives as long as the process. Can be called again, when
// another library may have been loaded since.
void redirect_fortran_calls(std::span<const FortranCall> calls);

}  // namespace foretrace::capture
