// BusNetwork: one medium for all messages between nodes, one after the other.
//
// docs/networks.md, "bus": a message waits until the medium is free, holds it for
// bytes * time per byte, and is there one latency later. First come, first
// served; equal times by sending node, then order of injection. It knows no
// routes: every two nodes are on the medium.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "sim/network/link_usage.hpp"
#include "sim/network/shared_network.hpp"
#include "topology/shape.hpp"

namespace foretrace::sim {

class BusNetwork final : public SharedNetwork {
 public:
  // What `speed` does not give is no latency, no limit.
  explicit BusNetwork(const machine::LinkSpeed& speed);

  void inject(MessageId message, const Way& way, Bytes bytes, Time time) override;
  Time next() const override;
  void advance(std::vector<Arrival>& arrivals) override;
  Time latency(machine::NodeId, machine::NodeId) const override { return latency_; }
  // The medium is link 0.
  std::vector<LinkLoad> loads() const { return usage_.loads(); }
  const LinkUsage& usage() const override { return usage_; }
  std::size_t memory() const override;

 private:
  struct Waiting {
    Time time;
    machine::NodeId from;
    std::uint64_t sequence = 0;  // of injection
    MessageId message = 0;
    Bytes bytes;
    Time hold;
    // std::priority_queue has the greatest on top.
    bool operator<(const Waiting& other) const {
      if (time != other.time) return time > other.time;
      if (from != other.from) return from > other.from;
      return sequence > other.sequence;
    }
  };
  struct Done {
    std::uint64_t sequence = 0;
    Arrival arrival;
  };

  Time latency_;
  double bytes_per_second_;
  Time free_;  // the medium, from then on
  std::uint64_t sequence_ = 0;
  // The first of them has the medium. It is taken out when it is through, so
  // that one with the same time and a lower node can still come before it.
  std::priority_queue<Waiting> waiting_;
  std::vector<Done> done_;  // of one advance()
  LinkUsage usage_;
};

}  // namespace foretrace::sim
