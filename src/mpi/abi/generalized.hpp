// Generalized requests whose functions are Fortran subroutines.
#pragma once

#include "mpi/p2p/request.hpp"

namespace foretrace::mpi::abi {

// From now on the request's functions are called as Fortran's; at most once for
// a request.
void make_fortran(Request& generalized);

}  // namespace foretrace::mpi::abi
