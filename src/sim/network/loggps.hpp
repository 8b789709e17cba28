// LoggpsNetwork: LogGPS (Kanbe et al. 2003; Ino et al., PPoPP 2001) between any two nodes.
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
    return {loggps_.latency, stream(bytes)};
  }
  Time latency_between(machine::NodeId, machine::NodeId) const override { return loggps_.latency; }
  Time own(Bytes bytes) const override { return stream(bytes); }

 private:
  // Asked three times for each message, which often has the last one's size.
  Time stream(Bytes bytes) const {
    if (bytes != last_bytes_) {
      last_bytes_ = bytes;
      last_stream_ = loggps_.stream(bytes);
    }
    return last_stream_;
  }

  mutable Bytes last_bytes_;
  mutable Time last_stream_;
};

}  // namespace foretrace::sim
