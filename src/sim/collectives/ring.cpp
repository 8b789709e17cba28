// The ring: p - 1 rounds in which everybody sends one block up and takes one
// from below; the block that came is the next to go.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {

bool allgather_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(p - 1)) return false;
  const int distance = static_cast<int>(index);
  return exchange(step, up(call.rank, 1, p), part(call, down(call.rank, distance, p)),
                  down(call.rank, 1, p), part(call, down(call.rank, distance + 1, p)));
}

namespace {

// A piece of what goes round the pipelined ring; none where a block is empty.
struct RingPiece {
  bool over = false;  // there are no more
  std::uint64_t bytes = 0;
};

// Piece `index` of the p - 1 blocks from `first` downwards, each cut into pieces of `most` bytes.
RingPiece ring_piece(const CollectiveCall& call, int first, std::uint32_t index,
                     std::uint64_t most) {
  std::uint64_t at = index;
  for (int i = 0; i < call.size - 1; ++i) {
    const Pieces pieces(Bytes(part(call, down(first, i, call.size))), most);
    if (at < pieces.count()) return {false, pieces.size(at)};
    at -= pieces.count();
  }
  return {true, 0};
}

}  // namespace

// As long as one rank's part is short, longer ones are cut, so that a rank hands the first pieces
// on while the others still come.
bool allgather_pipelined_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  if (call.counts.empty()) return allgather_ring(call, index, step);
  const std::uint64_t most = std::max(std::ranges::min(call.counts).count, kAllgathervPiece);
  const int p = call.size;
  const RingPiece sent = ring_piece(call, call.rank, index, most);
  const RingPiece received = ring_piece(call, down(call.rank, 1, p), index, most);
  if (sent.over && received.over) return false;
  return exchange_parts(call, step, up(call.rank, 1, p), sent.bytes, down(call.rank, 1, p),
                        received.bytes);
}

bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  if (index >= static_cast<std::uint32_t>(p - 1)) return false;
  const Blocks blocks(call);
  const int distance = static_cast<int>(index) + 1;
  const std::uint64_t in = blocks.size(down(call.rank, distance + 1, p));
  return exchange(step, up(call.rank, 1, p), blocks.size(down(call.rank, distance, p)),
                  down(call.rank, 1, p), in, in);
}

// One round of an allreduce: the block that is `sent` places down goes, the next
// one comes. `part` of `parts` of each.
namespace {

bool round_of_blocks(const CollectiveCall& call, Step& step, int sent, std::uint64_t part,
                     std::uint64_t parts, bool reducing) {
  const int p = call.size;
  const Blocks blocks(call.bytes, static_cast<std::uint64_t>(p));
  const auto bytes = [&](int places) {
    const std::uint64_t block = blocks.size(down(call.rank, places, p));
    return parts == 1 ? block : Blocks(Bytes(block), parts).size(static_cast<int>(part));
  };
  const std::uint64_t in = bytes(sent + 1 == p ? 0 : sent + 1);
  return exchange(step, up(call.rank, 1, p), bytes(sent), down(call.rank, 1, p), in,
                  reducing ? in : 0);
}

}  // namespace

bool allreduce_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int rounds = call.size - 1;
  const int round = static_cast<int>(index);
  if (round < rounds) return round_of_blocks(call, step, round, 0, 1, true);
  if (round >= 2 * rounds) return false;
  // A rank now owns the block of the rank above it.
  const int sent = round - rounds - 1;
  return round_of_blocks(call, step, sent < 0 ? sent + call.size : sent, 0, 1, false);
}

// The sums in turn for each part of at most kRingPiece bytes of the blocks, then
// the blocks go round whole.
bool allreduce_segmented_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const auto p = static_cast<std::uint64_t>(call.size);
  const std::uint64_t longest = (call.bytes.count + p - 1) / p;
  const std::uint64_t parts = Pieces(Bytes(longest), kRingPiece).count();
  const std::uint64_t rounds = p - 1;
  if (index < parts * rounds)
    return round_of_blocks(call, step, static_cast<int>(index % rounds), index / rounds, parts,
                           true);
  const auto done = static_cast<std::uint32_t>(parts * rounds - rounds);
  return allreduce_ring(call, index - done, step);
}

}  // namespace foretrace::sim::collectives
