// Where the parts of an architecture are drawn: each composite in a rectangle of the unit square,
// its parts in cells of it, or where its author placed them.
#pragma once

#include <vector>

#include "architecture/description.hpp"
#include "topology/topology.hpp"

namespace foretrace::architecture {

struct Region {
  double x = 0, y = 0, width = 1, height = 1;
};

// Cell `number` of `count` in rows and columns.
Region cell_of(const Region& region, int number, int count);
// A part of the unit square as one of `region`.
Region part_of(const Region& region, const Region& part);
// One for each part; large templates get more room than single parts.
std::vector<Region> regions_of(const Composite& composite, const Region& region);
// By node: grids as grids, trees and omega in levels, others on a circle or in rows.
std::vector<Region> place_topology(const machine::Topology& topology, const Region& region);

}  // namespace foretrace::architecture
