// Blocks in the shared memory: allocated by one process, freed by any.
//
// Each process takes its blocks from chunks of its own and reuses its own;
// whoever frees another's block puts it onto that process's stack of returned
// ones. No locks. Big blocks give their pages back to the system.
#pragma once

#include <cstdint>

namespace foretrace::live::heap {

// Who the calling process is: its rank, or -1 for the simulator. Once, at the
// start.
void begin(int rank);
// The place of a block of at least `bytes` > 0 bytes, aligned to 64; 0: the shared
// memory is full.
std::uint64_t allocate(std::uint64_t bytes);
void free(std::uint64_t place);

}  // namespace foretrace::live::heap
