// Traces that look like real programs, for tests of the time lines and for
// looking at them. The same call gives the same trace.
#pragma once

#include "trace/trace.hpp"

namespace foretrace::test {

// Eight workstations compute a set of unequal parts between a barrier and a
// gather, in the shape of Howell's thesis, section 5.4.1; with phases.
trace::Trace mandel_trace();

// A ring of ranks that exchange halos with posted receives, and reduce every
// 16th step; `events` per rank, roughly.
trace::Trace halo_trace(int ranks, int events);

// Four steps of computation and a barrier, nearly the same on all ranks; rank ranks / 7 is late
// in the second step, rank ranks / 4 * 3 in the last.
trace::Trace wide_trace(int ranks);

}  // namespace foretrace::test
