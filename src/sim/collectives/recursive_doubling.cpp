// Recursive doubling: in round k everybody swaps what it has with the rank whose
// number differs in bit k. Where p is no power of two, some ranks hand their
// part over and get the result back (Fold), or are told in place
// (doubling_walk.hpp).
#include "sim/collectives/doubling_walk.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

// The ranks from the power of two on stay out; their neighbour is that much lower.
bool barrier_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Fold fold(call.size);
  if (call.rank >= fold.pof2) {
    const int neighbour = call.rank - fold.pof2;
    return index == 0 && exchange(step, neighbour, 0, neighbour, 0);
  }
  const int neighbour = call.rank + fold.pof2;
  int round = static_cast<int>(index);
  if (neighbour < call.size && round-- == 0) return receive(step, neighbour, 0);
  if (round < fold.rounds()) {
    const int partner = call.rank ^ (1 << round);
    return exchange(step, partner, 0, partner, 0);
  }
  return round == fold.rounds() && neighbour < call.size && send(step, neighbour, 0);
}

bool allgather_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  if (!is_power_of_two(call.size)) return allgather_bruck(call, index, step);
  if (index >= static_cast<std::uint32_t>(floor_log2(call.size))) return false;
  const int group = 1 << index;
  const int partner = call.rank ^ group;
  return exchange(step, partner, parts(call, call.rank & -group, group), partner,
                  parts(call, partner & -group, group));
}

bool allreduce_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Fold fold(call.size);
  const std::uint64_t d = call.bytes.count;
  const int rounds = fold.rounds();
  int round = static_cast<int>(index);
  int v = call.rank;
  if (fold.rem != 0) {
    v = fold.number(call.rank);
    if (fold.paired(call.rank)) {
      if (call.rank % 2 == 0) {
        if (round == 0) return send(step, call.rank + 1, d);
        return round == 1 && receive(step, call.rank + 1, d);
      }
      if (round-- == 0) return receive(step, call.rank - 1, d, d);
      if (round == rounds) return send(step, call.rank - 1, d);
    }
  }
  if (round >= rounds) return false;
  const int partner = fold.rank_even_out(v ^ (1 << round));
  return exchange(step, partner, d, partner, d, d);
}

// Each group of m ranks sends the other group what that needs of its own sums:
// all blocks but those of the group's own ranks.
bool reduce_scatter_recursive_doubling(const CollectiveCall& call, std::uint32_t index,
                                       Step& step) {
  DoublingMove move;
  if (!doubling_move(call.rank, call.size, index, move)) return false;
  const Blocks blocks(call);
  const auto without = [&](int group) {
    return call.bytes.count - blocks.range(group, std::min(group + move.distance, call.size));
  };
  const std::uint64_t other = without(move.other_group);
  switch (move.kind) {
    case DoublingMove::Kind::swap:
      return exchange(step, move.partner, without(move.own_group), move.partner, other, other);
    case DoublingMove::Kind::tell:
      return send(step, move.partner, other);
    case DoublingMove::Kind::hear:
      return receive(step, move.partner, other, other);
  }
  return false;
}

namespace {

// The round in which a rank has its n-th partner. Partners that do not exist are
// left out: bit k of a rank is flipped only if the result is a rank.
int partner_bit(int rank, int p, std::uint32_t n) {
  const int rounds = ceil_log2(p);
  if (is_power_of_two(p)) return n < static_cast<std::uint32_t>(rounds) ? static_cast<int>(n) : -1;
  for (int bit = 0; bit < rounds; ++bit)
    if ((rank ^ (1 << bit)) < p && n-- == 0) return bit;
  return -1;
}

}  // namespace

// What comes from below belongs to the sum to hand on and to the rank's own result.
bool scan_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int bit = partner_bit(call.rank, call.size, index);
  if (bit < 0) return false;
  const int partner = call.rank ^ (1 << bit);
  const std::uint64_t d = call.bytes.count;
  return exchange(step, partner, d, partner, d, partner < call.rank ? 2 * d : d);
}

// As scan; the first that comes from below is the result so far and needs no sum.
bool exscan_recursive_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int bit = partner_bit(call.rank, call.size, index);
  if (bit < 0) return false;
  const int partner = call.rank ^ (1 << bit);
  const std::uint64_t d = call.bytes.count;
  const bool first_from_below = (call.rank & -call.rank) == 1 << bit;
  const bool below = partner < call.rank;
  return exchange(step, partner, d, partner, d, below && !first_from_below ? 2 * d : d);
}

}  // namespace foretrace::sim::collectives
