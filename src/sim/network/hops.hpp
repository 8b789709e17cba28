// HopsNetwork: messages go hop by hop and never meet (Demaine 1996, section 3).
//
// Store-and-forward in blocks, or cut-through. Where all links have one speed
// only the number of hops is asked for; else the route is walked.
#pragma once

#include <vector>

#include "sim/network/nodes.hpp"

namespace foretrace::sim {

class HopsNetwork final : public NodeNetwork {
 public:
  // Throws Error without a topology.
  HopsNetwork(const NetworkOptions& options, int ranks);

 protected:
  Transit between(machine::NodeId from, machine::NodeId to, Bytes bytes) const override;

 private:
  // Start-up and time per byte of a link, seconds.
  struct Speed {
    double start_up = 0;
    double per_byte = 0;
  };
  Speed speed_of(const machine::LinkSpeed& given) const;
  [[noreturn]] void no_way(machine::NodeId from, machine::NodeId to) const;

  machine::Topology topology_;
  machine::LinkSpeed default_;
  Bytes block_;
  bool cut_through_;
  bool uniform_ = true;
  Speed speed_;  // if uniform
  mutable std::vector<machine::LinkId> route_;
};

}  // namespace foretrace::sim
