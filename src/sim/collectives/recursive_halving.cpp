// Reduce-scatter by halving: partners swap halves of what they both hold and
// each sums up the half that it keeps. Two orders: distances from far to near,
// so that each ends with its own block (Thakur, Rabenseifner and Gropp 2005), or
// from near to far with the blocks brought home at the end (Traff 2005).
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// The blocks of p ranks, counted by those pof2 that work: of a pair the first of
// the two is meant.
struct FoldedBlocks {
  Fold fold;
  Blocks blocks;

  explicit FoldedBlocks(const CollectiveCall& call) : fold(call.size), blocks(call) {}

  int first_rank(int v) const { return v < fold.rem ? 2 * v : v + fold.rem; }
  std::uint64_t range(int v, int count) const {
    return blocks.range(first_rank(v), first_rank(v + count));
  }
};

// Even ranks of the pairs hand all they have to the odd ones.
bool stays_out(const Fold& fold, int rank) {
  return fold.paired(rank) && rank % 2 == 0;
}

}  // namespace

bool reduce_scatter_recursive_halving(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const FoldedBlocks parts(call);
  const Fold& fold = parts.fold;
  const std::uint64_t d = call.bytes.count;
  if (stays_out(fold, call.rank)) {
    if (index == 0) return send(step, call.rank + 1, d);
    const std::uint64_t own = parts.blocks.size(call.rank);
    return index == 1 && exchange_parts(call, step, kNobody, 0, call.rank + 1, own);
  }
  const bool paired = fold.paired(call.rank);
  int round = static_cast<int>(index);
  if (paired && round-- == 0) return receive(step, call.rank - 1, d, d);
  if (round < fold.rounds()) {
    const int half = fold.pof2 >> (round + 1);
    const int v = fold.number(call.rank);
    const int partner = fold.rank_even_out(v ^ half);
    const std::uint64_t kept = parts.range(v & -half, half);
    return exchange_parts(call, step, partner, parts.range((v & -half) ^ half, half), partner, kept,
                          kept);
  }
  return paired && round == fold.rounds() &&
         exchange_parts(call, step, call.rank - 1, parts.blocks.size(call.rank - 1), kNobody, 0);
}

bool reduce_scatter_butterfly(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const FoldedBlocks parts(call);
  const Fold& fold = parts.fold;
  const std::uint64_t d = call.bytes.count;
  const Halving halving{fold.rounds()};
  const int v = fold.number(call.rank);
  // Whose block v holds after the halving, and who holds v's.
  const int mirror = reverse_bits(v, halving.rounds);
  const std::uint64_t own = parts.blocks.size(call.rank);
  if (stays_out(fold, call.rank)) {
    if (index == 0) return send(step, call.rank + 1, d);
    return index == 1 && receive(step, fold.rank_even_out(mirror), own);
  }
  int round = static_cast<int>(index);
  if (fold.paired(call.rank) && round-- == 0) return receive(step, call.rank - 1, d, d);
  if (round < halving.rounds) {
    const int half = halving.blocks(round + 1);
    const int first = halving.first(v, round);
    const bool upper = (v >> round & 1) != 0;
    const int partner = fold.rank_even_out(v ^ (1 << round));
    const std::uint64_t kept = parts.range(first + (upper ? half : 0), half);
    return exchange(step, partner, parts.range(first + (upper ? 0 : half), half), partner, kept,
                    kept);
  }
  round -= halving.rounds;
  const int owner = fold.rank_even_out(mirror);
  if (fold.paired(owner) && round-- == 0)
    return send(step, owner - 1, parts.blocks.size(owner - 1));
  return round == 0 && mirror != v && exchange(step, owner, parts.blocks.size(owner), owner, own);
}

}  // namespace foretrace::sim::collectives
