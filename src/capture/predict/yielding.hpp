// Yielding: on a host with more ranks than cores, a rank that waits in MPI gives
// its core to one that has something to do. Decides whether; idle_polls.hpp
// says how.
#pragma once

#include "capture/host/settings.hpp"

namespace foretrace::capture {

// Before MPI_Init, by what the launcher says: the ranks wait for each other in
// there too.
void begin_yielding_early();

// After MPI_Init; collective over all ranks, which may differ in the answer. Returns whether
// this rank has to share its cores with others of the run.
bool begin_yielding(Yield setting);

// Whether this rank should yield, but its MPI library polls in a way that we do
// not know: loops of our own have to do it then.
bool must_yield_in_loops();

}  // namespace foretrace::capture
