// Merging: several messages of a run sent as one.
#pragma once

#include "explain/loaded_run.hpp"
#include "explain/rewrites.hpp"

namespace foretrace::explain {

// Messages that a rank sends from the places to one receiver on one communicator, one after
// the other, become one with the bytes of all:
// - They follow each other: in between the rank sends nothing else to that receiver on that
//   communicator, completes nothing but sends, and does nothing else that waits for others;
//   a phase's begin and end part them. Standard mode only, not MPI_Sendrecv, not to itself.
// - The message is sent by the call that sent the last of them, when all data are there.
// - It is received by the call that received (posted the receive of) any of them first, and
//   waited for where any of them was waited for first.
// The other calls, and waits that wait for nothing any more, are left out. Messages that
// nobody receives, or that a probe took, are not merged. `run` gives new waits their name.
Rewrites with_merged_messages(LoadedRun& run, const Open& open, const PlaceSet& places);

}  // namespace foretrace::explain
