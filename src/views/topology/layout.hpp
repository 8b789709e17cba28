// TopologyPicture: where each node and link of a topology lies on paper.
//
// Computed here from the topology's kind, drawn by svg.hpp. Positions
// are in pixels from the top left corner. For topologies that a person can
// take in at a glance; larger ones are refused.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace foretrace::views {

struct Point {
  double x = 0;
  double y = 0;
};

struct PlacedNode {
  Point at;
  machine::NodeKind kind = machine::NodeKind::processor;
  double half_width = 0;  // of its symbol
  std::string label;
  bool label_below = false;  // too long for the symbol
  bool on_route = false;
};

struct PlacedLine {
  Point from;
  Point to;
  Point bend;  // control point, where curved
  bool curved = false;
  bool stub = false;   // the end of a link that goes on at the other side
  bool arrow = false;  // one way, from -> to; both ways otherwise
  bool on_route = false;
};

struct TopologyPicture {
  std::string caption;
  double width = 0;
  double height = 0;
  std::vector<PlacedLine> lines;  // those on the route last
  std::vector<PlacedNode> nodes;
};

inline constexpr int kMostDrawnProcessors = 80;
inline constexpr int kMostDrawnNodes = 256;

// Links of `route` stand out. Throws UsageError if there are more processors
// or nodes than the limits above.
TopologyPicture lay_out_topology(const machine::Topology& topology,
                                 const std::vector<machine::LinkId>& route);

}  // namespace foretrace::views
