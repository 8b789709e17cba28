#include "topology/graph.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <numeric>

namespace foretrace::machine {
namespace {

// Breadth-first with steps of 0 and 1: `each(node, visit)` calls
// visit(neighbour, hops of the link) for the links to follow.
template <class Each>
std::vector<int> search(int nodes, int source, const Each& each) {
  std::vector<int> distance(static_cast<std::size_t>(nodes), kUnreachable);
  std::deque<int> open{source};
  distance[static_cast<std::size_t>(source)] = 0;
  while (!open.empty()) {
    const int node = open.front();
    open.pop_front();
    const int here = distance[static_cast<std::size_t>(node)];
    each(node, [&](int neighbour, int hops) {
      int& known = distance[static_cast<std::size_t>(neighbour)];
      if (known != kUnreachable && known <= here + hops) return;
      known = here + hops;
      if (hops == 0)
        open.push_front(neighbour);
      else
        open.push_back(neighbour);
    });
  }
  return distance;
}

}  // namespace

TopologyGraph::TopologyGraph(int processors, std::vector<NodeKind> others,
                             const std::vector<GraphLink>& links)
    : processors_(processors), others_(std::move(others)) {
  const std::size_t nodes = static_cast<std::size_t>(processors) + others_.size();
  has_bus_ = std::ranges::find(others_, NodeKind::bus) != others_.end();
  first_.assign(nodes + 1, 0);
  bool one_speed = true;
  for (const GraphLink& link : links) {
    ++first_[static_cast<std::size_t>(link.from) + 1];
    one_speed = one_speed && link.speed == 0;
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<GraphLink> sorted(links.size());
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (const GraphLink& link : links)
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(link.from)]++)] = link;
  from_.reserve(links.size());
  to_.reserve(links.size());
  for (std::size_t node = 0; node < nodes; ++node) {
    const auto begin = sorted.begin() + first_[node];
    const auto end = sorted.begin() + first_[node + 1];
    std::sort(begin, end, [](const GraphLink& a, const GraphLink& b) { return a.to < b.to; });
    assert(std::adjacent_find(
               begin, end, [](const GraphLink& a, const GraphLink& b) { return a.to == b.to; }) ==
               end &&
           "two links from a node to the same other");
  }
  for (const GraphLink& link : sorted) {
    from_.push_back(link.from);
    to_.push_back(link.to);
    if (!one_speed) speed_.push_back(link.speed);
  }
}

TopologyGraph TopologyGraph::with_speed(const std::vector<int>& links, int speed) const {
  TopologyGraph changed = *this;
  changed.speed_.resize(to_.size());
  for (const int link : links) changed.speed_[static_cast<std::size_t>(link)] = speed;
  return changed;
}

int TopologyGraph::find(int from, int to) const {
  const auto begin = to_.begin() + first(from);
  const auto end = to_.begin() + first(from + 1);
  const auto found = std::lower_bound(begin, end, to);
  return found == end || *found != to ? -1 : static_cast<int>(found - to_.begin());
}

IncomingLinks::IncomingLinks(const TopologyGraph& graph)
    : first(static_cast<std::size_t>(graph.nodes()) + 1),
      link(static_cast<std::size_t>(graph.links())) {
  for (int l = 0; l < graph.links(); ++l) ++first[static_cast<std::size_t>(graph.to(l)) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<int> next(first.begin(), first.end() - 1);
  for (int l = 0; l < graph.links(); ++l)
    link[static_cast<std::size_t>(next[static_cast<std::size_t>(graph.to(l))]++)] = l;
}

std::vector<int> hops_from(const TopologyGraph& graph, int source) {
  return search(graph.nodes(), source, [&graph](int node, const auto& visit) {
    for (int l = graph.first(node); l < graph.first(node + 1); ++l)
      visit(graph.to(l), graph.hops(l));
  });
}

std::vector<int> hops_to(const TopologyGraph& graph, const IncomingLinks& incoming, int source) {
  return search(graph.nodes(), source, [&](int node, const auto& visit) {
    const auto n = static_cast<std::size_t>(node);
    for (int i = incoming.first[n]; i < incoming.first[n + 1]; ++i) {
      const int l = incoming.link[static_cast<std::size_t>(i)];
      visit(graph.from(l), graph.hops(l));
    }
  });
}

}  // namespace foretrace::machine
