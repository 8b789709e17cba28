// Which calls an MPI's Fortran library makes for the program, and which for itself.
//
// Such a library turns each call of the program into one of a C function, and
// makes others on the way: conversions of handles, how long arrays are. Told
// apart by the name of the Fortran function that calls. Does not see MPI.
#pragma once

#include <optional>
#include <string_view>

namespace foretrace::callers {

// Open MPI: libmpi_mpifh, libmpi_usempif08, libmpi_usempi_ignore_tkr; MPICH:
// libmpichfort, libmpifort.
bool is_fortran_library(std::string_view file_name);

// Whether the call of MPI function `name` ("MPI_Send") that returns to `return_address` is
// the program's. False: a Fortran library makes it for a purpose of its own
// (MPI_Alltoallw asks MPI_Comm_size how long its arrays are).
// The first call from a place takes tens of microseconds.
bool is_programs_call(const char* name, const void* return_address);
// The same of a place that was judged before; else nothing.
std::optional<bool> known_call(const void* return_address);

}  // namespace foretrace::callers
