// A topology in words and numbers: its properties, and one route.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "topology/properties.hpp"
#include "topology/topology.hpp"

namespace foretrace::views {

// The way of a message between two ranks.
struct TopologyRoute {
  WorldRank from;
  WorldRank to;
  bool reachable = true;
  std::vector<machine::LinkId> links;  // none between ranks of one node
};

std::string render_text_topology(const machine::Topology& topology,
                                 const machine::TopologyProperties& properties,
                                 const std::optional<TopologyRoute>& route);
// One object (docs/topology.md).
std::string render_json_topology(const machine::Topology& topology,
                                 const machine::TopologyProperties& properties,
                                 const std::optional<TopologyRoute>& route);

}  // namespace foretrace::views
