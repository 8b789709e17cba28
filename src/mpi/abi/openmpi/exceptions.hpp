// MPI::ERRORS_THROW_EXCEPTIONS, which Open MPI's C++ library fills in.
#pragma once

#include "mpi/core/error.hpp"

namespace foretrace::mpi::abi {

// Makes it the object behind the predefined handle, and its functions those that
// the C++ library leaves there.
void make_throwing(Errhandler& handler);

}  // namespace foretrace::mpi::abi
