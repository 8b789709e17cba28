// p - 1 rounds; in each every rank has one partner to send to and one to
// receive from, and each pair meets once.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

bool alltoall_pairwise(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(p - 1)) return false;
  const int distance = static_cast<int>(index) + 1;
  const int to = up(call.rank, distance, p);
  const int from = down(call.rank, distance, p);
  return exchange(step, to, part_to(call, to), from, part_from(call, from));
}

// Both ways with one partner, where p is a power of two.
bool alltoall_pairwise_exchange(const CollectiveCall& call, std::uint32_t index, Step& step) {
  if (!is_power_of_two(call.size)) return alltoall_pairwise(call, index, step);
  if (index >= static_cast<std::uint32_t>(call.size - 1)) return false;
  const int partner = call.rank ^ (static_cast<int>(index) + 1);
  return exchange(step, partner, part_to(call, partner), partner, part_from(call, partner));
}

bool reduce_scatter_pairwise(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(p - 1)) return false;
  const Blocks blocks(call);
  const int distance = static_cast<int>(index) + 1;
  const int to = up(call.rank, distance, p);
  const std::uint64_t own = blocks.size(call.rank);
  return exchange(step, to, blocks.size(to), down(call.rank, distance, p), own, own);
}

}  // namespace foretrace::sim::collectives
