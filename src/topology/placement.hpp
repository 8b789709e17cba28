// Placement: which processor of a topology each rank runs on
// (docs/networks.md, Placement).
//
// Made once before a simulation, from what --placement says. It knows neither
// programs nor speeds.
#pragma once

#include <string_view>
#include <vector>

#include "topology/topology.hpp"

namespace foretrace::machine {

// By rank; processors only.
using Placement = std::vector<NodeId>;

// `text` is one of
//   block        rank r on processor r / ranks_per_node
//   round-robin  rank r on processor r mod processors
//   random:SEED  the block placement, its ranks shuffled; SEED 0..2^64-1
//   FILE         one processor number or node name a line, line n for rank n-1;
//                lines beyond the ranks are not looked at
// The same seed gives the same placement on every machine. Throws UsageError
// for a text that is none of these, Error "FILE:LINE: ..." for a fault in a
// file, and Error where a processor would get more ranks than ranks_per_node.
Placement make_placement(std::string_view text, const Topology& topology, int ranks);

// The same for nodes of which nothing is known but that each has room for `ranks_per_node`
// ranks; `text` is one of block, round-robin, random:SEED, or a FILE with any name for a node
// in each line: ranks with equal names share it. A file needs no `ranks_per_node` (0).
Placement make_placement(std::string_view text, int ranks_per_node, int ranks);

}  // namespace foretrace::machine
