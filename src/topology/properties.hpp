// What can be said of a topology: sizes, degrees, distances, bisection width,
// who reaches whom.
//
// Regular kinds by formula or by their symmetry, arbitrary graphs by search;
// what is sampled or only bounded says so. Distances are in hops between two
// different processors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace foretrace::machine {

// Fewest and most links out of a node.
struct DegreeRange {
  int min = 0;
  int max = 0;
};

// How a number was found.
enum class Finding : std::uint8_t { exact, sampled, upper_bound };

// The fewest links that lead from one half of the processors to the other, over
// all ways to halve them (an odd number: one more in one half) and to give the
// switches to the halves; of the two directions the one with fewer links. A bus
// counts as one link.
struct Bisection {
  std::int64_t width = 0;
  Finding finding = Finding::exact;
  std::string how;  // "formula", "all halvings tried", "the halves of the numbering"
};
Bisection bisection_of(const Topology& topology);

// One processor and some of those that it cannot reach.
struct Unreachable {
  NodeId from;
  std::int64_t count = 0;
  std::vector<NodeId> examples;  // the first few
};

struct TopologyProperties {
  DegreeRange processor_degree;
  DegreeRange switch_degree;
  int diameter = 0;  // among those that reach each other; sampled: at least this
  double mean_distance = 0;
  Finding distances = Finding::exact;
  int sampled_sources = 0;  // sampled: from how many processors
  Bisection bisection;

  bool connected = true;                 // every processor reaches every other
  std::int64_t unreachable_pairs = 0;    // sampled: among the pairs looked at
  std::vector<Unreachable> unreachable;  // the first few

  bool routes_minimal = true;  // no route has more hops than the distance
  int longest_route = 0;
  double mean_route = 0;
};
TopologyProperties properties_of(const Topology& topology);

}  // namespace foretrace::machine
