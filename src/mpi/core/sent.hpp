// What this rank sends and receives, for those who ask whether data is untouched
// (base/sent_data.hpp). Where the machine model says nothing of such data, nobody does, and nothing
// is noted.
#pragma once

#include <cstdint>

#include "machine/timing.hpp"
#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi {

// `count` elements at `data` are sent; whether they are untouched. `to`: as SentData has it.
bool note_sent(const void* data, MPI_Count count, const Datatype& type, std::uint64_t to);
// The same of a message to the world rank `to`, with what follows.
bool note_message(const void* data, MPI_Count count, const Datatype& type, int to);
// Of what was noted last, the bytes that the rank has written again since they were sent; 0 where
// the machine model does not say that it takes longer.
std::uint64_t rewritten();
// Other ranks of the node had read them, in this call: counts what it took longer as computation.
void count_rewriting(machine::Cost call);
// There will be what is received.
void note_room(const void* data, MPI_Count count, const Datatype& type);

}  // namespace foretrace::mpi
