// A better placement of the ranks on a topology, for the messages that they exchange.
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.hpp"
#include "sim/message_matrix.hpp"
#include "topology/placement.hpp"

namespace foretrace::explain {

// Simulates the run with its ranks elsewhere.
using SimulatePlaced = std::function<Time(const machine::Placement&)>;

struct BetterPlacement {
  machine::Placement placement;  // as it is, if none better was found
  Time time;                     // of the run then
  std::uint64_t simulated = 0;   // so many placements
};

// Of the placements that Scotch finds for the messages, for their bytes and for both, and of
// block and round-robin, the one with the shortest run; then, as long as this makes it
// shorter, two ranks change places or one goes to a free place; this a few times, from where
// changes at random lead. Every placement is simulated, at most `most` of them (and the first
// few in any case). `present` takes `time`. The same input gives the same placement.
BetterPlacement find_placement(const sim::MessageMatrix& messages,
                               const machine::Topology& topology, const machine::Placement& present,
                               Time time, std::uint64_t most, const SimulatePlaced& simulate);

}  // namespace foretrace::explain
