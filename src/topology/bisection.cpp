// The bisection width: formulas, enumeration, and the cut of one halving.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "topology/properties.hpp"

namespace foretrace::machine {
namespace {

// The fewest links to cut so that no processor of side A reaches one of side
// B, switches on whichever side is better: the greatest flow from A to B with
// capacity 1 on every link (Ford and Fulkerson 1956), found level by level
// (Dinic 1970). A bus is a pair of nodes with one link of capacity 1.
class CutFinder {
 public:
  explicit CutFinder(const TopologyGraph& graph) : graph_(graph) {
    nodes_ = graph.nodes();
    for (int node = 0; node < graph.nodes(); ++node) bus_exit_.push_back(node);
    for (int node = 0; node < graph.nodes(); ++node)
      if (graph.kind(node) == NodeKind::bus) bus_exit_[static_cast<std::size_t>(node)] = nodes_++;
    for (int l = 0; l < graph.links(); ++l) {
      const bool bus =
          graph.kind(graph.from(l)) == NodeKind::bus || graph.kind(graph.to(l)) == NodeKind::bus;
      add_arc(bus_exit_[static_cast<std::size_t>(graph.from(l))], graph.to(l),
              bus ? kUnlimited : 1);
    }
    for (int node = 0; node < graph.nodes(); ++node)
      if (graph.kind(node) == NodeKind::bus)
        add_arc(node, bus_exit_[static_cast<std::size_t>(node)], 1);
    finish_rows();
  }

  // side: true for the processors of A. Stops early at `enough`.
  std::int64_t cut(const std::vector<char>& side, std::int64_t enough) {
    rest_ = capacity_;
    std::int64_t flow = 0;
    while (flow < enough && find_levels(side)) {
      position_.assign(row_.begin(), row_.end() - 1);
      for (int source = 0; source < graph_.processors(); ++source) {
        if (!side[static_cast<std::size_t>(source)]) continue;
        while (flow < enough && push_path(side, source)) ++flow;
      }
    }
    return flow;
  }

 private:
  static constexpr int kUnlimited = 1 << 30;

  void add_arc(int from, int to, int capacity) {
    arcs_.push_back({from, to});
    arcs_.push_back({to, from});
    capacity_.push_back(capacity);
    capacity_.push_back(0);
  }

  void finish_rows() {
    row_.assign(static_cast<std::size_t>(nodes_) + 1, 0);
    for (const auto& arc : arcs_) ++row_[static_cast<std::size_t>(arc.first) + 1];
    std::partial_sum(row_.begin(), row_.end(), row_.begin());
    order_.resize(arcs_.size());
    std::vector<int> next(row_.begin(), row_.end() - 1);
    for (std::size_t a = 0; a < arcs_.size(); ++a)
      order_[static_cast<std::size_t>(next[static_cast<std::size_t>(arcs_[a].first)]++)] =
          static_cast<int>(a);
  }

  // Flow that has come to a processor has arrived (B) or not left (A).
  bool is_processor(int node) const { return node < graph_.processors(); }

  bool find_levels(const std::vector<char>& side) {
    level_.assign(static_cast<std::size_t>(nodes_), -1);
    queue_.clear();
    for (int node = 0; node < graph_.processors(); ++node)
      if (side[static_cast<std::size_t>(node)]) {
        level_[static_cast<std::size_t>(node)] = 0;
        queue_.push_back(node);
      }
    bool arrived = false;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const int node = queue_[i];
      if (is_processor(node) && !side[static_cast<std::size_t>(node)]) {
        arrived = true;
        continue;
      }
      const auto n = static_cast<std::size_t>(node);
      for (int k = row_[n]; k < row_[n + 1]; ++k) {
        const auto arc = static_cast<std::size_t>(order_[static_cast<std::size_t>(k)]);
        const int to = arcs_[arc].second;
        if (rest_[arc] == 0 || level_[static_cast<std::size_t>(to)] >= 0) continue;
        level_[static_cast<std::size_t>(to)] = level_[n] + 1;
        queue_.push_back(to);
      }
    }
    return arrived;
  }

  // One unit along rising levels from `source` to any processor of B.
  bool push_path(const std::vector<char>& side, int source) {
    path_.clear();
    int node = source;
    while (true) {
      const auto n = static_cast<std::size_t>(node);
      if (is_processor(node) && !side[n]) break;
      int& k = position_[n];
      while (k < row_[n + 1]) {
        const auto arc = static_cast<std::size_t>(order_[static_cast<std::size_t>(k)]);
        const auto to = static_cast<std::size_t>(arcs_[arc].second);
        if (rest_[arc] > 0 && level_[to] == level_[n] + 1) break;
        ++k;
      }
      if (k < row_[n + 1]) {
        path_.push_back(order_[static_cast<std::size_t>(k)]);
        node = arcs_[static_cast<std::size_t>(path_.back())].second;
        continue;
      }
      if (path_.empty()) return false;
      node = arcs_[static_cast<std::size_t>(path_.back())].first;
      path_.pop_back();
      ++position_[static_cast<std::size_t>(node)];
    }
    for (const int arc : path_) {
      --rest_[static_cast<std::size_t>(arc)];
      ++rest_[static_cast<std::size_t>(arc ^ 1)];
    }
    return true;
  }

  const TopologyGraph& graph_;
  int nodes_ = 0;
  std::vector<int> bus_exit_;              // where the links out of a node begin
  std::vector<std::pair<int, int>> arcs_;  // each followed by its opposite
  std::vector<int> capacity_, rest_;
  std::vector<int> row_, order_, position_, level_, queue_, path_;
};

std::int64_t cut_both_ways(CutFinder& finder, std::vector<char> side, std::int64_t enough) {
  const std::int64_t there = finder.cut(side, enough);
  for (char& s : side) s = !s;
  return finder.cut(side, std::min(enough, there));
}

// Without switches the cut is counted with bit sets.
std::int64_t direct_cut(const std::vector<std::uint32_t>& out, std::uint32_t half) {
  std::int64_t there = 0;
  std::int64_t back = 0;
  for (std::size_t node = 0; node < out.size(); ++node) {
    if (half >> node & 1)
      there += std::popcount(out[node] & ~half);
    else
      back += std::popcount(out[node] & half);
  }
  return std::min(there, back);
}

// All halves of floor(n/2) processors as bit sets, ascending (Gosper's hack).
void each_half(int n, const std::function<void(std::uint32_t)>& visit) {
  const std::uint64_t end = std::uint64_t{1} << n;
  // Of an even number one half and the other are the same halving.
  for (std::uint64_t half = (std::uint64_t{1} << n / 2) - 1; half != 0 && half < end;) {
    if (n % 2 != 0 || (half & 1) != 0) visit(static_cast<std::uint32_t>(half));
    const std::uint64_t low = half & (~half + 1);
    const std::uint64_t carried = half + low;
    half = (((carried ^ half) >> 2) / low) | carried;
  }
}

Bisection enumerate(const TopologyGraph& graph) {
  const int n = graph.processors();
  Bisection best{INT64_MAX, Finding::exact, "all halvings tried"};
  if (graph.nodes() == n) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(n));
    for (int l = 0; l < graph.links(); ++l)
      out[static_cast<std::size_t>(graph.from(l))] |= 1U << graph.to(l);
    each_half(
        n, [&](std::uint32_t half) { best.width = std::min(best.width, direct_cut(out, half)); });
    return best;
  }
  CutFinder finder(graph);
  std::vector<char> side(static_cast<std::size_t>(n));
  each_half(n, [&](std::uint32_t half) {
    for (int node = 0; node < n; ++node) side[static_cast<std::size_t>(node)] = half >> node & 1;
    best.width = cut_both_ways(finder, side, best.width);
  });
  return best;
}

Bisection search(const TopologyGraph& graph) {
  constexpr int kMaxEnumerated = 20;
  // With switches every halving is a search for flows.
  constexpr int kMaxLinksWithSwitches = 240;
  const int n = graph.processors();
  if (n <= kMaxEnumerated && (graph.nodes() == n || graph.links() <= kMaxLinksWithSwitches))
    return enumerate(graph);
  std::vector<char> side(static_cast<std::size_t>(n));
  std::fill(side.begin(), side.begin() + n / 2, 1);
  CutFinder finder(graph);
  return {cut_both_ways(finder, side, INT64_MAX), Finding::upper_bound,
          "the halves of the numbering"};
}

// Sum over the sides, longest first, of the product of the shorter ones, up to
// and including the first even side: an odd side is cut in the middle line, whose own
// bisection follows. G. Aroca and A. Fernandez Anta, "Bisection (band)width of
// product networks with application to data centers", IEEE TPDS 25 (2014).
std::int64_t mesh_width(std::vector<int> sides) {
  std::ranges::sort(sides, std::greater());
  std::int64_t rest = 1;
  for (int side : sides) rest *= side;
  std::int64_t width = 0;
  for (int side : sides) {
    if (side == 1) break;
    rest /= side;
    width += rest;
    if (side % 2 == 0) break;
  }
  return width;
}

// Rings of 3 and more are cut twice: 2 * mesh_width (the same paper). Sides of
// 2 have one link, not two; per cut they weigh like a ring of 4. If the longest
// side in this sense is even, embedding all pairs along shortest ways loads no
// link with more than P*k/8 of them (Leighton 1992), so 2P/k is least.
std::optional<std::int64_t> torus_width(const std::vector<int>& sides) {
  if (std::ranges::find(sides, 2) == sides.end()) return 2 * mesh_width(sides);
  int longest = 0;
  std::int64_t processors = 1;
  for (int side : sides) {
    processors *= side;
    longest = std::max(longest, side == 2 ? 4 : side);
  }
  if (longest % 2 != 0) return std::nullopt;
  return 2 * processors / longest;
}

// A plain tree of arity k: an even k halves the subtrees of the root. An odd
// one leaves a subtree over at every level, which is halved in turn; the halves
// (k^n-1)/2 have the digits (k-1)/2, and no signed sum of k^i has fewer terms.
std::int64_t tree_width(int arity, int levels) {
  return arity % 2 == 0 ? arity / 2 : std::int64_t{arity - 1} / 2 * levels;
}

// Half of the processors on each side: floor(n/2) links leave them. A k-ary
// n-tree is a folded Benes network and carries any pairing of them without
// sharing a link (Petrini and Vanneschi, IPPS 1997), so there is no smaller cut.
std::optional<std::int64_t> width_by_formula(const Topology& topology) {
  const Shape& shape = topology.shape();
  const std::int64_t n = topology.processors();
  switch (shape.kind) {
    case TopologyKind::full:
      return (n / 2) * (n - n / 2);
    case TopologyKind::bus:
      return n > 1 ? 1 : 0;
    case TopologyKind::star:
    case TopologyKind::crossbar:
    case TopologyKind::fattree:
      return n / 2;
    case TopologyKind::array:
    case TopologyKind::mesh:
      return mesh_width(shape.sizes);
    case TopologyKind::hypercube:
      return n / 2;
    case TopologyKind::ring:
    case TopologyKind::torus:
      return torus_width(shape.sizes);
    case TopologyKind::tree:
      return tree_width(shape.sizes[0], shape.sizes[1]);
    default:
      return std::nullopt;
  }
}

}  // namespace

Bisection bisection_of(const Topology& topology) {
  if (topology.processors() < 2) return {0, Finding::exact, "formula"};
  if (const auto width = width_by_formula(topology)) return {*width, Finding::exact, "formula"};
  return search(topology.graph());
}

}  // namespace foretrace::machine
