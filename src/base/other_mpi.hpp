// Whether a program has brought another MPI than the one that its calls are taken for.
#pragma once

#include <string>
#include <string_view>

namespace foretrace {

// `own`: "openmpi", "mpich" or "standard", whose calls are followed. One sentence where the library
// of another is loaded in this process, so that calls and library may not fit; else empty.
std::string complain_of_other_mpi(std::string_view own);

}  // namespace foretrace
