// What it takes ranks longer to write again what other ranks of their node have read
// (machine::Timing::rewriting), as the simulator tells them.
#pragma once

#include "machine/timing.hpp"

namespace foretrace::live::rewriting {

// The simulator's: each time multiplied by `factor`. Throws Error where the shared memory is full.
void begin(const machine::Timing& timing, double factor);
// A rank's, which is slower than others: of its own time. Nothing where none is known.
bool is_known();
Time takes(machine::Cost call, Bytes bytes);

}  // namespace foretrace::live::rewriting
