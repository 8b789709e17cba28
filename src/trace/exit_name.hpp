// The name of the last event of a rank whose process ended by itself without MPI_Finalize. It is of
// the kind `finalize`: what the rank computed until then counts.
#pragma once

namespace foretrace::trace {

inline constexpr const char* kExitName = "exit";

}  // namespace foretrace::trace
