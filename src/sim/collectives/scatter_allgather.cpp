// Broadcast of a long message: scattered down the binomial tree, then gathered
// by all (van de Geijn; Thakur, Rabenseifner and Gropp 2005).
#include "sim/collectives/binomial_tree.hpp"
#include "sim/collectives/doubling_walk.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// Block i of the message is the i-th ceil(d / p) bytes, so that the last blocks
// may be short or empty.
struct Scattered {
  std::uint64_t bytes;
  std::uint64_t each;
  int p;

  explicit Scattered(const CollectiveCall& call)
      : bytes(call.bytes.count),
        each((bytes + static_cast<std::uint64_t>(call.size) - 1) /
             static_cast<std::uint64_t>(call.size)),
        p(call.size) {}

  // `count` blocks from `first` on, as far as there are such.
  std::uint64_t range(int first, int count) const {
    return offset(std::min(first + count, p)) - offset(first);
  }

 private:
  std::uint64_t offset(int block) const {
    return std::min(bytes, each * static_cast<std::uint64_t>(block));
  }
};

// True if the step is one of the scatter; else `index` becomes the number of the
// step in the gathering.
bool scatter_phase(const CollectiveCall& call, const Scattered& blocks, std::uint32_t& index,
                   Step& step) {
  const BinomialNode node(from_root(call), call.size);
  if (!node.root() && index-- == 0)
    return receive(step, to_rank(call, node.parent()), blocks.range(node.v, node.lowest));
  const auto children = static_cast<std::uint32_t>(node.children);
  if (index >= children) {
    index -= children;
    return false;
  }
  const int child = node.children - 1 - static_cast<int>(index);
  return send(step, to_rank(call, node.child(child)), blocks.range(node.child(child), 1 << child));
}

}  // namespace

bool bcast_scatter_allgather(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Scattered blocks(call);
  if (scatter_phase(call, blocks, index, step)) return true;
  DoublingMove move;
  if (!doubling_move(from_root(call), call.size, index, move)) return false;
  const int partner = to_rank(call, move.partner);
  const std::uint64_t own = blocks.range(move.own_group, move.distance);
  const std::uint64_t other = blocks.range(move.other_group, move.distance);
  switch (move.kind) {
    case DoublingMove::Kind::swap:
      return exchange(step, partner, own, partner, other);
    case DoublingMove::Kind::tell:
      return send(step, partner, other);
    case DoublingMove::Kind::hear:
      return receive(step, partner, other);
  }
  return false;
}

bool bcast_scatter_allgather_ring(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const Scattered blocks(call);
  if (scatter_phase(call, blocks, index, step)) return true;
  const int p = call.size;
  const int round = static_cast<int>(index);
  if (round >= p - 1) return false;
  const int block = down(from_root(call), round, p);
  return exchange(step, up(call.rank, 1, p), blocks.range(block, 1), down(call.rank, 1, p),
                  blocks.range(down(block, 1, p), 1));
}

}  // namespace foretrace::sim::collectives
