// Generalized requests whose functions are Fortran subroutines.
#pragma once

#include "live/mpi/request.hpp"

namespace foretrace::live::abi {

// From now on the request's functions are called as Fortran's; at most once for
// a request.
void make_fortran(Request& generalized);

}  // namespace foretrace::live::abi
