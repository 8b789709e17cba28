// Whose code a call of MPI comes from: an MPI library's own (its files are made of other MPI
// calls), or the program's. Does not see MPI.
#pragma once

namespace foretrace::callers {

// Whether `return_address` is in an MPI library, one that belongs to it, or where `inside` is. A
// library for Fortran or C++ calls for the program. The first call from a place takes some
// microseconds.
bool is_of_mpi(const void* return_address, const void* inside);

}  // namespace foretrace::callers
