// Short ways to build a topology and to ask it, for the tests here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/builders.hpp"

namespace foretrace::machine {

inline Topology build(const std::string& expression) {
  return build_topology(parse_topology_expression(expression));
}

// The same nodes and links, without their kind: routes and properties then come
// from searches.
inline Topology without_kind(const Topology& topology) {
  TopologySpec spec;
  spec.name = topology.name();
  return Topology(spec, topology.graph());
}

inline int hops(const Topology& topology, int from, int to) {
  return topology.hops(NodeId(from), NodeId(to)).value_or(kUnreachable);
}

// The nodes of a route, both ends included; none if there is no way.
inline std::vector<int> way(const Topology& topology, int from, int to) {
  std::vector<LinkId> links;
  if (!topology.route(NodeId(from), NodeId(to), links)) return {};
  std::vector<int> nodes{from};
  for (LinkId link : links) nodes.push_back(topology.to(link).value);
  return nodes;
}

using Way = std::vector<int>;

inline std::vector<std::pair<int, int>> links_of(const Topology& topology) {
  std::vector<std::pair<int, int>> links;
  for (int l = 0; l < topology.links(); ++l)
    links.emplace_back(topology.from(LinkId(l)).value, topology.to(LinkId(l)).value);
  return links;
}

}  // namespace foretrace::machine
