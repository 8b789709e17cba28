// The algorithms on the binomial tree of binomial_tree.hpp.
#include "sim/collectives/binomial_tree.hpp"
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// Up the tree, near children first. What comes from child i is
// `child_bytes(i)`, what goes to the parent `own`.
template <class ChildBytes>
bool ascend(const CollectiveCall& call, const BinomialNode& node, std::uint32_t index, Step& step,
            ChildBytes child_bytes, std::uint64_t own, bool reducing) {
  const int i = static_cast<int>(index);
  if (i < node.children) {
    const std::uint64_t bytes = child_bytes(i);
    return receive(step, to_rank(call, node.child(i)), bytes, reducing ? bytes : 0);
  }
  return i == node.children && !node.root() && send(step, to_rank(call, node.parent()), own);
}

// Down the tree, far children first.
template <class ChildBytes>
bool descend(const CollectiveCall& call, const BinomialNode& node, std::uint32_t index, Step& step,
             ChildBytes child_bytes, std::uint64_t own) {
  int i = static_cast<int>(index);
  if (!node.root()) {
    if (i == 0) return receive(step, to_rank(call, node.parent()), own);
    --i;
  }
  const int child = node.children - 1 - i;
  return child >= 0 && send(step, to_rank(call, node.child(child)), child_bytes(child));
}

}  // namespace

bool barrier_tree(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const BinomialNode node(call.rank, call.size);
  const auto empty = [](int) { return std::uint64_t{0}; };
  CollectiveCall at_zero = call;
  at_zero.root = 0;
  const auto up_steps = static_cast<std::uint32_t>(node.children + (node.root() ? 0 : 1));
  if (index < up_steps) return ascend(at_zero, node, index, step, empty, 0, false);
  return descend(at_zero, node, index - up_steps, step, empty, 0);
}

bool bcast_binomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  return descend(
      call, BinomialNode(from_root(call), call.size), index, step, [d](int) { return d; }, d);
}

bool scatter_binomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  const BinomialNode node(from_root(call), call.size);
  return descend(
      call, node, index, step, [&](int i) { return d * node.ranks_of_child(i); },
      d * node.ranks_of_self());
}

bool gather_binomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  const BinomialNode node(from_root(call), call.size);
  return ascend(
      call, node, index, step, [&](int i) { return d * node.ranks_of_child(i); },
      d * node.ranks_of_self(), false);
}

bool reduce_binomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  return ascend(
      call, BinomialNode(from_root(call), call.size), index, step, [d](int) { return d; }, d, true);
}

}  // namespace foretrace::sim::collectives
