// What to say of a damaged trace, and what is left of it.
#pragma once

#include <cstdint>
#include <string>

#include "trace/trace_reader.hpp"

namespace foretrace::trace {

// "rank 3, file offset 8192: ..."
std::string describe_damage(const Damage& damage);

// What can be read of a trace.
struct Remains {
  int ranks = 0;  // that have events
  std::uint64_t events = 0;
  Time until;  // the latest time
};

// Reads all streams from their beginnings, so that TraceReader::damage() knows all
// there is to know; leaves them at their beginnings.
Remains look_through(TraceReader& reader);

// "1234 events of 5 of 8 ranks, until 0.25 s"
std::string describe_remains(const Remains& remains, int ranks);

// For whoever computes with what the trace holds, once all streams were read: throws
// Error if something of it is damaged or missing. An unsealed trace is not.
void refuse_damaged(TraceReader& reader);

}  // namespace foretrace::trace
