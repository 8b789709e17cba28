// Whose code a call of MPI comes from: an MPI library's own (its input and output is made of other
// MPI calls), or the program's. A call that a function of the program's leaves to as its last act
// (a tail call) returns to MPI, and is taken for MPI's. Does not see MPI.
#pragma once

namespace foretrace::callers {

// Whether `return_address` is in an MPI library, one that belongs to it, or where `inside` is. A
// library for Fortran or C++ calls for the program. The first call from a place takes some
// microseconds.
bool is_of_mpi(const void* return_address, const void* inside);

}  // namespace foretrace::callers
