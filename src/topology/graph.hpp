// TopologyGraph: the bare directed graph of a topology, as compressed rows.
//
// Nodes are numbers: processors from 0 on, then switches and buses. Links are
// numbered by (from, to). Eight bytes a link when all have one speed. Knows no
// shapes and no routes.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/shape.hpp"

namespace foretrace::machine {

enum class NodeKind : std::uint8_t {
  processor,
  switch_,
  bus,  // a shared medium: messages enter it one at a time, leaving it is free
};

// Directed; there is at most one link from a node to another.
struct GraphLink {
  int from = 0;
  int to = 0;
  int speed = 0;  // index into the topology's speeds
};

class TopologyGraph {
 public:
  TopologyGraph() = default;
  // Nodes 0..processors-1 are processors, `others` are the nodes after them.
  // Two links from one node to the same other are an assertion: readers of
  // files find them first.
  TopologyGraph(int processors, std::vector<NodeKind> others, const std::vector<GraphLink>& links);

  int processors() const { return processors_; }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int links() const { return static_cast<int>(to_.size()); }
  NodeKind kind(int node) const {
    return node < processors_ ? NodeKind::processor
                              : others_[static_cast<std::size_t>(node - processors_)];
  }
  bool has_bus() const { return has_bus_; }

  // The links out of a node are first(node) .. first(node + 1) - 1, ascending
  // in where they go.
  int first(int node) const { return first_[static_cast<std::size_t>(node)]; }
  int from(int link) const { return from_[static_cast<std::size_t>(link)]; }
  int to(int link) const { return to_[static_cast<std::size_t>(link)]; }
  int speed(int link) const { return speed_.empty() ? 0 : speed_[static_cast<std::size_t>(link)]; }
  // What a link adds to a distance: a bus is passed in one hop.
  int hops(int link) const { return has_bus_ && kind(from(link)) == NodeKind::bus ? 0 : 1; }

  // The link between two nodes, or -1.
  int find(int from, int to) const;
  // The same with another speed of these links.
  TopologyGraph with_speed(const std::vector<int>& links, int speed) const;

 private:
  int processors_ = 0;
  bool has_bus_ = false;
  std::vector<NodeKind> others_;
  std::vector<int> first_{0};
  std::vector<int> from_;
  std::vector<int> to_;
  std::vector<int> speed_;  // empty: all 0
};

// The links that lead into each node, as compressed rows.
struct IncomingLinks {
  explicit IncomingLinks(const TopologyGraph& graph);
  std::vector<int> first;
  std::vector<int> link;
};

inline constexpr int kUnreachable = -1;

// Hops from `source` to every node along links (or, against the links, from
// every node to `source`); kUnreachable where there is no way.
std::vector<int> hops_from(const TopologyGraph& graph, int source);
std::vector<int> hops_to(const TopologyGraph& graph, const IncomingLinks& incoming, int source);

}  // namespace foretrace::machine
