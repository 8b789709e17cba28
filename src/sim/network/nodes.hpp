// NodeNetwork: ranks on the nodes of a topology. What stays inside a node has the
// speed of the node; between nodes a derived class says what the way takes.
#pragma once

#include <optional>
#include <vector>

#include "sim/network/endpoints.hpp"

namespace foretrace::sim {

class NodeNetwork : public EndpointNetwork {
 public:
  // Without a topology every rank has a node of its own. Throws Error when the
  // placement has no place for a rank.
  NodeNetwork(const NetworkOptions& options, int ranks);

 protected:
  Transit transit(WorldRank from, WorldRank to, Bytes bytes) const final;
  Time latency(WorldRank from, WorldRank to) const final;

  virtual Transit between(machine::NodeId from, machine::NodeId to, Bytes bytes) const = 0;
  virtual Time latency_between(machine::NodeId from, machine::NodeId to) const {
    return between(from, to, Bytes(0)).latency;
  }

 private:
  Time inside_latency_;
  std::optional<double> inside_per_byte_;  // seconds; nothing: as LogGPS has it on path node
};

// The speeds that links take which have none of their own: L and G.
machine::LinkSpeed default_speed(const machine::LogGPSTimes& loggps);

}  // namespace foretrace::sim
