// Numbers that the library and the simulator agree on.
#pragma once

#include <cstdint>

namespace foretrace::live {

// A communicator, as the engine knows it: 0 is MPI_COMM_WORLD, 1 + r the
// MPI_COMM_SELF of rank r.
using ContextId = std::uint32_t;
// Added to a context: the library's own messages, which never meet the program's.
inline constexpr ContextId kHidden = ContextId{1} << 30;

// Names of phases and the like are numbered from here on, by each rank.
inline constexpr std::uint32_t kOwnNames = 1 << 16;

}  // namespace foretrace::live
