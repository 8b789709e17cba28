// MPI::ERRORS_THROW_EXCEPTIONS, which Open MPI's C++ library fills in.
#pragma once

#include "live/mpi/error.hpp"

namespace foretrace::live::abi {

// Makes it the object behind the predefined handle, and its functions those that
// the C++ library leaves there.
void make_throwing(Errhandler& handler);

}  // namespace foretrace::live::abi
