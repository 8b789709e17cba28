#include "sim/network/nodes.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"

namespace foretrace::sim {
namespace {

machine::Placement place(const NetworkOptions& options, int ranks) {
  machine::Placement nodes = options.placement;
  if (nodes.empty()) {
    for (int r = 0; r < ranks; ++r)
      nodes.push_back(options.topology ? options.topology->node_of(WorldRank(r))
                                       : machine::NodeId(r));
  }
  if (nodes.size() < static_cast<std::size_t>(ranks))
    throw Error("the placement has " + std::to_string(nodes.size()) + " ranks, the program " +
                std::to_string(ranks));
  if (!options.topology) return nodes;
  const int processors = options.topology->processors();
  for (const machine::NodeId node : nodes)
    if (!node.valid() || node.value >= processors)
      throw Error("topology '" + options.topology->name() + "' has " + std::to_string(processors) +
                  " processors with " + std::to_string(options.topology->ranks_per_node()) +
                  " ranks each, the program has " + std::to_string(ranks) +
                  " ranks; take a larger topology, or more ranks_per_node");
  return nodes;
}

}  // namespace

machine::LinkSpeed default_speed(const machine::LogGPSTimes& loggps) {
  return {loggps.latency, loggps.gap_per_byte > 0 ? 1 / loggps.gap_per_byte
                                                  : std::numeric_limits<double>::infinity()};
}

NodeNetwork::NodeNetwork(const NetworkOptions& options, int ranks)
    : EndpointNetwork(options, place(options, ranks)),
      inside_latency_(on(machine::Path::node).latency) {
  if (!options.topology) return;
  const machine::LinkSpeed& inside = options.topology->intra_node();
  if (inside.latency) inside_latency_ = *inside.latency;
  if (inside.bytes_per_second) inside_per_byte_ = 1 / *inside.bytes_per_second;
}

EndpointNetwork::Transit NodeNetwork::transit(WorldRank from, WorldRank to, Bytes bytes) const {
  if (from == to) return {};
  const machine::NodeId a = node_of(from);
  const machine::NodeId b = node_of(to);
  if (a != b) return between(a, b, bytes);
  return {inside_latency_, inside_per_byte_ ? Time::from_seconds(static_cast<double>(bytes.count) *
                                                                 *inside_per_byte_)
                                            : on(machine::Path::node).stream(bytes)};
}

Time NodeNetwork::latency(WorldRank from, WorldRank to) const {
  if (from == to) return Time();
  const machine::NodeId a = node_of(from);
  const machine::NodeId b = node_of(to);
  return a == b ? inside_latency_ : latency_between(a, b);
}

}  // namespace foretrace::sim
