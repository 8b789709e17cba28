// Broadcasts and reductions on trees of other shapes: all of the message at
// once, the sends to the children posted together.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// A tree says for node v (ranks counted from the root) of p who its parent is
// and its i-th child, kNobody after the last one.

// Level by level: the node v of level l has the children v + 2^l and v + 2^(l+1),
// so that all odd nodes hang below node 1, all even ones below node 2.
struct BinaryTree {
  static int parent(int v, int) {
    const int width = 1 << floor_log2(v + 1);
    return ((v + 1 - width) & (width / 2 - 1)) + width / 2 - 1;
  }
  static int children(int v, int p) {
    const int width = 1 << floor_log2(v + 1);
    return p - v > 2 * width ? 2 : p - v > width ? 1 : 0;
  }
  static int child(int v, int p, int i) {
    return i < children(v, p) ? v + ((i + 1) << floor_log2(v + 1)) : kNobody;
  }
};

// The parent lacks the highest bit: in round i the nodes below 2^i send 2^i up.
struct DoublingTree {
  static int parent(int v, int) { return v - (1 << floor_log2(v)); }
  static int child(int v, int p, int i) {
    const int bit = std::bit_width(static_cast<unsigned>(v)) + i;
    return bit < 31 && (1 << bit) < p - v ? v + (1 << bit) : kNobody;
  }
};

// The parent lacks the lowest digit of v in base kRadix that is not 0.
struct KnomialTree {
  static int parent(int v, int) {
    int unit = kRadix;
    while (v % unit == 0) unit *= kRadix;
    return v - v % unit;
  }
  // The far children first.
  static int child(int v, int p, int i) {
    int unit = 1;
    while (unit < p && v % (unit * kRadix) == 0) unit *= kRadix;
    for (unit /= kRadix; unit > 0; unit /= kRadix) {
      const int here = std::min(kRadix - 1, (p - 1 - v) / unit);
      if (i < here) return v + (i + 1) * unit;
      i -= here;
    }
    return kNobody;
  }
};

template <class Tree>
bool bcast(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int v = from_root(call);
  int i = static_cast<int>(index);
  if (v != 0) {
    if (i == 0) return receive(step, to_rank(call, Tree::parent(v, call.size)), call.bytes.count);
    --i;
  }
  const int to = Tree::child(v, call.size, i);
  return to != kNobody && post_send(step, to_rank(call, to), call.bytes.count);
}

// One rank's place in the tree that an in-order walk visits as 0, 1, .. p-1 with
// the root last: the ranks [first, first + size) have their root at the end, the
// lower half below one child, the others below the next.
struct InOrderNode {
  int parent = kNobody;
  int children[2] = {kNobody, kNobody};

  InOrderNode(int rank, int p) {
    int first = 0;
    for (int size = p; size > 0;) {
      const int root = first + size - 1;
      const int lower = size / 2;
      if (rank == root) {
        const int upper = size - 1 - lower;
        int n = 0;
        if (upper > 0) children[n++] = root - 1;
        if (lower > 0) children[n] = first + lower - 1;
        return;
      }
      parent = root;
      const bool below = rank < first + lower;
      size = below ? lower : size - 1 - lower;
      if (!below) first += lower;
    }
  }
};

}  // namespace

bool bcast_binomial_doubling(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return bcast<DoublingTree>(call, index, step);
}

bool bcast_binary(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return bcast<BinaryTree>(call, index, step);
}

bool bcast_knomial(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return bcast<KnomialTree>(call, index, step);
}

// Each half goes down one side of the binary tree; then each odd node swaps with
// the even one after it. The last node has no such partner if p is even.
bool bcast_split_binary(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int p = call.size;
  const int v = from_root(call);
  const std::uint64_t halves[2] = {call.bytes.count / 2, call.bytes.count - call.bytes.count / 2};
  const auto half = [&](int node) { return halves[node & 1]; };
  int i = static_cast<int>(index);
  if (v != 0) {
    if (i == 0) return receive(step, to_rank(call, BinaryTree::parent(v, p)), half(v));
    --i;
  }
  const int children = BinaryTree::children(v, p);
  if (i < children) {
    const int to = BinaryTree::child(v, p, i);
    return send(step, to_rank(call, to), half(to));
  }
  if (i > children || p == 1) return false;
  const bool odd_one_left = p % 2 == 0;
  if (v == 0) return odd_one_left && send(step, to_rank(call, p - 1), half(0));
  if (odd_one_left && v == p - 1) return receive(step, to_rank(call, 0), half(0));
  const int pair = to_rank(call, v % 2 != 0 ? v + 1 : v - 1);
  return exchange(step, pair, half(v), pair, half(v + 1));
}

bool reduce_binary(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int v = from_root(call);
  const std::uint64_t d = call.bytes.count;
  const int i = static_cast<int>(index);
  const int children = BinaryTree::children(v, call.size);
  if (i < children) return receive(step, to_rank(call, BinaryTree::child(v, call.size, i)), d, d);
  return i == children && v != 0 && send(step, to_rank(call, BinaryTree::parent(v, call.size)), d);
}

// In the order of the ranks; the last rank has the result and hands it to the root.
bool reduce_in_order_binary(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const InOrderNode node(call.rank, call.size);
  const std::uint64_t d = call.bytes.count;
  const int last = call.size - 1;
  std::uint32_t i = index;
  for (const int child : node.children)
    if (child != kNobody && i-- == 0) return receive(step, child, d, d);
  if (node.parent != kNobody && i-- == 0) return send(step, node.parent, d);
  if (call.root == last || i != 0) return false;
  if (call.rank == last) return send(step, call.root, d);
  return call.rank == call.root && receive(step, last, d);
}

}  // namespace foretrace::sim::collectives
