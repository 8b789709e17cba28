// LoggpsNetwork: LogGPS (seed 004; Ino et al., PPoPP 2001) between any two nodes.
#pragma once

#include "sim/network/nodes.hpp"

namespace foretrace::sim {

class LoggpsNetwork final : public NodeNetwork {
 public:
  LoggpsNetwork(const NetworkOptions& options, int ranks) : NodeNetwork(options, ranks) {
    receives_in_turn_ = true;
  }

 protected:
  Transit between(machine::NodeId, machine::NodeId, Bytes bytes) const override {
    return {loggps_.latency, loggps_.stream(bytes)};
  }
  Time latency_between(machine::NodeId, machine::NodeId) const override { return loggps_.latency; }
  Time own(Bytes bytes) const override { return loggps_.stream(bytes); }
};

}  // namespace foretrace::sim
