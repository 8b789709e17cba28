// The network that a run was simulated on, for the animation of the time line page: where its
// nodes lie, its links, the nodes of the ranks, and the ways of the messages that the run has.
#pragma once

#include <string>

#include "topology/placement.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"
#include "views/timeline/rounds.hpp"

namespace foretrace::views {

struct RunNetwork {
  const machine::Topology& topology;
  machine::Placement placement;  // by rank; of as many ranks as the run has
};

// JSON: {"name", "nodes": [[x, y, kind], ...], "links": [[node, node], ...], "ranks": [node, ...],
// "routes": [[node, ...], ...]}. Places are in a square of side 1; a kind is 0 (processor), 1
// (switch) or 2 (bus). Links have no direction. A route leads from the processor that sends to the
// one that receives; there are no more than what makes some megabytes: other messages go straight.
// Those of the program's own messages come first.
std::string network_json(const RunNetwork& network, const trace::Trace& trace,
                         const std::vector<CallRounds>& rounds);

}  // namespace foretrace::views
