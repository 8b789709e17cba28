// What this rank sends and receives, for those who ask whether data is untouched
// (base/sent_data.hpp). Where the machine model says nothing of such data, nobody does, and nothing
// is noted.
#pragma once

#include <cstdint>

#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi {

// `count` elements at `data` are sent; whether they are untouched. `to`: as SentData has it.
bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to);
// There will be what is received.
void note_room(const void* data, MPI_Count count, const Datatype& type);

}  // namespace foretrace::mpi
