// Buffers that programs attach for buffered sends. A message is packed when it is
// sent, so no buffer is ever used: only their sizes count.
#pragma once

#include <cstdint>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// Whether a message of this size has room in the communicator's buffer; if that has
// none, in a session's, or else in the process's.
bool fits_buffer(const Comm& comm, std::uint64_t bytes);
// The session ends, and its buffer with it.
void forget_buffer(const Session* session);

}  // namespace foretrace::mpi
