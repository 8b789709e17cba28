// The seed: a copy of rank 0's process from before its main(), with all
// libraries in their places, from which the other ranks are made by copying. That
// takes a fraction of the time that starting the program takes, and ranks share
// the pages that none of them writes to.
//
// Rank 0 leaves it behind when our library is initialised. Where it cannot
// (another thread runs already, a static program, a system without the calls), there
// is none, and each rank starts by itself.
#pragma once

#include <sys/types.h>

namespace foretrace::live {

// The rank's library, while it is initialised: maps the shared memory, and leaves a seed
// behind if this process is asked to (kSeedVariable). Returns in rank 0, and in each rank made of
// the seed.
void leave_seed();

// The simulator: whether the seed waits.
bool has_seed();
// Has it make a rank: a child of ours as if we had started it. Its process, or -1: it
// could not, and there is no seed any more.
pid_t grow(int rank);
// Sends it away.
void dismiss_seed();

}  // namespace foretrace::live
