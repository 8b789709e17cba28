// The dissemination barrier: in round k everybody tells the rank 2^k up
// (Hensgen, Finkel and Manber 1988).
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

bool barrier_dissemination(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(ceil_log2(p))) return false;
  const int distance = 1 << index;
  return exchange(step, up(call.rank, distance, p), 0, down(call.rank, distance, p), 0);
}

}  // namespace foretrace::sim::collectives
