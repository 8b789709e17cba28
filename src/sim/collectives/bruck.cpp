// Bruck and others 1997: ceil(log2 p) rounds for any p.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

// Round k: the 2^k blocks that a rank has, as far as they are missing, go 2^k down.
bool allgather_bruck(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(ceil_log2(p))) return false;
  const int distance = 1 << index;
  const int blocks = std::min(distance, p - distance);
  const int from = up(call.rank, distance, p);
  return exchange(step, down(call.rank, distance, p), parts(call, call.rank, blocks), from,
                  parts(call, from, blocks));
}

// Round k: the blocks that have a distance 1 .. p-1 to go with bit k set go 2^k up.
bool alltoall_bruck(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(ceil_log2(p))) return false;
  const int distance = 1 << index;
  const int whole = p & -(2 * distance);  // so many distances are full turns of bit k
  const int blocks = whole / 2 + std::max(0, p - whole - distance);
  const std::uint64_t bytes = call.bytes.count * static_cast<std::uint64_t>(blocks);
  return exchange(step, up(call.rank, distance, p), bytes, down(call.rank, distance, p), bytes);
}

}  // namespace foretrace::sim::collectives
