// Allgather among neighbours on a ring of an even number of ranks: pairs swap
// what came last, now to one side, now to the other (Chen and others 2005).
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

namespace {

// The first block of the pair that a rank has last after that round: its own and its first
// partner's, then from each side the pairs that are 2, 4, ... further away.
int pair_after(int rank, std::uint32_t round, int p) {
  const bool even = rank % 2 == 0;
  const int own = even ? rank : rank - 1;
  const int away = 2 * static_cast<int>((round + 1) / 2) % p;
  const bool from_above = even == (round % 2 == 0);
  return from_above ? up(own, away, p) : down(own, away, p);
}

}  // namespace

bool allgather_neighbour_exchange(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (p % 2 != 0) return allgather_ring(call, index, step);
  if (index >= static_cast<std::uint32_t>(p / 2)) return false;
  // Even ranks begin upwards, odd ones downwards.
  const bool upwards = (call.rank + static_cast<int>(index & 1)) % 2 == 0;
  const int partner = upwards ? up(call.rank, 1, p) : down(call.rank, 1, p);
  if (index == 0)
    return exchange(step, partner, part(call, call.rank), partner, part(call, partner));
  return exchange(step, partner, parts(call, pair_after(call.rank, index - 1, p), 2), partner,
                  parts(call, pair_after(call.rank, index, p), 2));
}

}  // namespace foretrace::sim::collectives
