// The layouts: positions of a topology's nodes, one function for each family.
//
// Part of lay_out_topology; draws no links.
#pragma once

#include <vector>

#include "views/topology/layout.hpp"

namespace foretrace::views {

// Half of a symbol's width.
inline constexpr double kNodeRadius = 13;

struct NodePositions {
  std::vector<Point> nodes;
  // omega: where links arrive at the processors, drawn a second time.
  std::vector<Point> exits;
  double bus_half_width = 0;  // of the bus of bus:N
};

NodePositions place_nodes(const machine::Topology& topology);

// Grids drawn as grids: the step on paper along one side, and whether the step
// is so long that its links have to bend around others.
struct GridStep {
  Point step;
  bool far = false;
};
std::vector<GridStep> grid_steps(const std::vector<int>& sides);

// Kinds whose wrap-around links are drawn as stubs.
bool drawn_as_grid(const machine::Shape& shape);

}  // namespace foretrace::views
