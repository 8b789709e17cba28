// The library's own messages, below the MPI functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// Point-to-point below the MPI functions: bytes, on comm.context | kHidden, partners as in
// MPI calls. The events bear the current function's name. `silent`, of both ends or none: no
// events, and no time passes. So all who hang on such a message must meet in something timed
// before their calls end.
void send_bytes(Comm& comm, int partner, int tag, const void* data, std::uint64_t bytes,
                bool silent = false);
std::vector<std::byte> receive_bytes(Comm& comm, int partner, int tag, bool silent = false);
// Exchange of many messages at once (neighbourhood collectives): all sends and
// receives are posted, then waited for. Posting alone: see request.hpp.

}  // namespace foretrace::mpi
