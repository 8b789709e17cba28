// What this rank sends and receives, for those who ask whether data is untouched, or was written
// again (base/sent_data.hpp). Where the machine model says nothing of such data, nobody does, and
// nothing is noted.
#pragma once

#include <cstdint>

#include "machine/timing.hpp"
#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi {

// `count` elements at `data` are sent; whether they are untouched. `to`: as SentData has it.
bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to);
// Whether the machine model says that it takes longer to write again what others have read.
bool asks_of_reading();
// Other ranks of the node read `count` elements at `data`, which this rank gives in that call: what
// it took longer to write there since such ranks read them last counts as computation.
void note_read(const void* data, MPI_Count count, const Datatype& type, machine::Cost call);
// Both, of a message to the world rank `to`. Of a buffered one its copy is read.
bool note_message(const void* data, MPI_Count count, const Datatype& type, int to,
                  machine::SendMode mode);
// There will be what is received.
void note_room(const void* data, MPI_Count count, const Datatype& type);

}  // namespace foretrace::mpi
