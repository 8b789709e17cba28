// The binomial tree whose node v has the parent v without its lowest bit.
//
// Node v is the root of the ranks v .. v + 2^h - 1, where 2^h is that bit, as
// far as there are such ranks; its children are v + 2^i for i < h. Nodes are
// ranks counted from the root of the collective.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/collectives/parts.hpp"

namespace foretrace::sim::collectives {

struct BinomialNode {
  int v;
  int p;
  int children;
  int lowest;  // v's lowest bit; a power of two from p on for the root

  BinomialNode(int v_, int p_) : v(v_), p(p_) {
    lowest = v == 0 ? 1 << ceil_log2(p) : v & -v;
    // Children v + 2^i < p with 2^i < lowest.
    children = std::min(ceil_log2(p - v), floor_log2(lowest));
  }

  bool root() const { return v == 0; }
  int parent() const { return v - lowest; }
  int child(int i) const { return v + (1 << i); }
  // Ranks below and including child i; of the node itself.
  std::uint64_t ranks_of_child(int i) const { return ranks(child(i), 1 << i); }
  std::uint64_t ranks_of_self() const { return ranks(v, lowest); }

 private:
  std::uint64_t ranks(int from, int most) const {
    return static_cast<std::uint64_t>(std::min(most, p - from));
  }
};

}  // namespace foretrace::sim::collectives
