// Rabenseifner's reductions of long messages: a reduce-scatter by halving with
// doubling distance, then an allgather or a gather back along the same partners
// (Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005).
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// The blocks among the pof2 ranks that work.
struct Work {
  Halving halving;
  Blocks blocks;

  Work(const CollectiveCall& call, const Fold& fold)
      : halving{fold.rounds()}, blocks(call.bytes, static_cast<std::uint64_t>(fold.pof2)) {}

  // What v holds after k rounds of halving.
  std::uint64_t held(int v, int k) const {
    const int first = halving.first(v, k);
    return blocks.range(first, first + halving.blocks(k));
  }
  bool halve(Step& step, int v, int round, int partner) const {
    const std::uint64_t kept = held(v, round + 1);
    return exchange(step, partner, held(v ^ (1 << round), round + 1), partner, kept, kept);
  }
  // Undoes the halving of that round.
  bool join(Step& step, int v, int round, int partner) const {
    return exchange(step, partner, held(v, round + 1), partner, held(v ^ (1 << round), round + 1));
  }
};

// Steps 0 .. 2 rounds - 1 of an allreduce among the ranks `rank_of(v)`.
template <class RankOf>
bool halve_and_join(const Work& work, int v, int step_number, Step& step, RankOf rank_of) {
  const int rounds = work.halving.rounds;
  if (step_number >= 2 * rounds) return false;
  const int round = step_number < rounds ? step_number : 2 * rounds - 1 - step_number;
  const int partner = rank_of(v ^ (1 << round));
  return step_number < rounds ? work.halve(step, v, round, partner)
                              : work.join(step, v, round, partner);
}

}  // namespace

// The even ranks of the pairs hand all they have to the odd ones.
bool allreduce_rabenseifner(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Fold fold(call.size);
  const std::uint64_t d = call.bytes.count;
  int i = static_cast<int>(index);
  if (fold.paired(call.rank)) {
    if (call.rank % 2 == 0) {
      if (i == 0) return send(step, call.rank + 1, d);
      return i == 1 && receive(step, call.rank + 1, d);
    }
    if (i-- == 0) return receive(step, call.rank - 1, d, d);
    if (i == 2 * fold.rounds()) return send(step, call.rank - 1, d);
  }
  return halve_and_join(Work(call, fold), fold.number(call.rank), i, step,
                        [&](int v) { return fold.rank_even_out(v); });
}

// Both of a pair sum up one half; then the odd ones hand theirs over.
bool allreduce_rabenseifner_split(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Fold fold(call.size);
  const std::uint64_t d = call.bytes.count;
  const std::uint64_t left = d / 2;
  const std::uint64_t right = d - left;
  int i = static_cast<int>(index);
  if (fold.paired(call.rank)) {
    if (call.rank % 2 != 0) {
      const int pair = call.rank - 1;
      if (i == 0) return exchange(step, pair, left, pair, right, right);
      if (i == 1) return send(step, pair, right);
      return i == 2 && receive(step, pair, d);
    }
    const int pair = call.rank + 1;
    if (i == 0) return exchange(step, pair, right, pair, left, left);
    if (i == 1) return receive(step, pair, right);
    i -= 2;
    if (i == 2 * fold.rounds()) return send(step, pair, d);
  }
  return halve_and_join(Work(call, fold), fold.number(call.rank), i, step,
                        [&](int v) { return fold.rank_odd_out(v); });
}

// The odd ranks of the pairs stay out. A root that is one of them takes the place
// of rank 0 before the gathering.
bool reduce_rabenseifner(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Fold fold(call.size);
  const std::uint64_t d = call.bytes.count;
  const int rounds = fold.rounds();
  const Work work(call, fold);
  const bool root_is_out = fold.paired(call.root) && call.root % 2 != 0;
  const int root = root_is_out ? 0 : fold.number(call.root);
  int v = fold.number(call.rank);
  int i = static_cast<int>(index);
  if (fold.paired(call.rank) && call.rank % 2 != 0) {
    if (i == 0) return send(step, call.rank - 1, d);
    if (call.rank != call.root) return false;
    if (i == 1) return receive(step, 0, work.held(0, rounds));
    v = 0;
    i -= 2;
  } else {
    if (fold.paired(call.rank) && i-- == 0) return receive(step, call.rank + 1, d, d);
    if (i < rounds) return work.halve(step, v, i, fold.rank_odd_out(v ^ (1 << i)));
    i -= rounds;
    if (root_is_out && v == 0) return i == 0 && send(step, call.root, work.held(0, rounds));
  }
  // Gathering: from the highest bit down, those who differ from the root in that
  // bit send what they have gathered and are done.
  const int round = rounds - 1 - i;
  if (round < 0 || (v ^ root) >> (round + 1) != 0) return false;
  const int other = v ^ (1 << round);
  const int partner = root_is_out && other == 0 ? call.root : fold.rank_odd_out(other);
  if ((v ^ root) >> round != 0) return send(step, partner, work.held(v, round + 1));
  return receive(step, partner, work.held(other, round + 1));
}

}  // namespace foretrace::sim::collectives
