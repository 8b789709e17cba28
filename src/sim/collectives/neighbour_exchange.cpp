// Allgather among neighbours on a ring of an even number of ranks: pairs swap
// what came last, now to one side, now to the other (Chen and others 2005).
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

bool allgather_neighbour_exchange(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (p % 2 != 0) return allgather_ring(call, index, step);
  if (index >= static_cast<std::uint32_t>(p / 2)) return false;
  // Even ranks begin upwards, odd ones downwards.
  const bool upwards = (call.rank + static_cast<int>(index & 1)) % 2 == 0;
  const int partner = upwards ? up(call.rank, 1, p) : down(call.rank, 1, p);
  const std::uint64_t bytes = index == 0 ? call.bytes.count : 2 * call.bytes.count;
  return exchange(step, partner, bytes, partner, bytes);
}

}  // namespace foretrace::sim::collectives
