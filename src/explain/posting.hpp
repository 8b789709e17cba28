// Posting: blocking messages of a run made non-blocking ones, posted as early and waited
// for as late as MPI's order of calls lets them.
#pragma once

#include "explain/loaded_run.hpp"
#include "explain/rewrites.hpp"

namespace foretrace::explain {

// Each blocking receive, send and sendrecv at the places becomes posted requests and a wait.
// What the program computes from the data is not known, so this is what overlap brings at
// most:
// - A receive is posted as soon as nothing stands in between but sends, waits, computation
//   and receives that could not get its message; a buffer serves one place, sender and tag,
//   and must have been waited for.
// - It is waited for right before the rank's next send, collective, or the next receive into
//   its buffer; at the latest before the phase changes.
// - A send is posted where it was, and waited for right before the next one from its buffer
//   (same place, receiver and tag), a collective, or before the phase changes.
// Left as they are: what has no such end before the rank's program ends, and receives of
// probed messages. `run` gives the new calls their names and opens `open`'s operations.
Rewrites with_posted_messages(LoadedRun& run, const Open& open, const PlaceSet& places);

}  // namespace foretrace::explain
