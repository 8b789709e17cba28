// PacketRouting: over which links a packet may go on, and what keeps the
// packets of a topology from waiting for each other in a circle.
//
// Asked by PacketNetwork, which has the queues; this has the ways only. Like
// Topology it keeps tables and belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.hpp"

namespace foretrace::sim {

// One step of a packet, to the next node that is no bus.
struct PacketHop {
  std::int32_t link = -1;    // the link taken; into a bus: the medium
  std::int32_t buffer = -1;  // the link by which it comes to the node; link, but for a bus
};

// How packets are kept from waiting for each other in a circle.
enum class CycleRule : std::uint8_t {
  none,      // the routes cannot form one (or nobody cares)
  bubble,    // who enters a ring needs two free places
  channels,  // a buffer for every number of hops done
};

class PacketRouting {
 public:
  // The topology must outlive it.
  PacketRouting(const machine::Topology& topology, bool adaptive, bool avoid_deadlock);

  bool adaptive() const { return adaptive_; }
  CycleRule rule() const { return rule_; }

  // The topology's own route; false if there is none.
  bool route(machine::NodeId from, machine::NodeId to, std::vector<PacketHop>& hops) const;

  // Adaptive: the steps that lead closer to `to`, links ascending; none if
  // there is no way or `at` is `to`.
  void closer(machine::NodeId at, machine::NodeId to, std::vector<PacketHop>& steps) const;

  // Bubble: the direction of a closed dimension that a link belongs to, from 1
  // on; 0: it is in no ring.
  std::vector<std::uint8_t> ring_directions() const;

  std::size_t memory() const;

 private:
  struct Table {
    int destination = -1;
    std::vector<int> hops;
  };

  PacketHop step(std::int32_t link, machine::NodeId to) const;
  const std::vector<int>& distances(int destination) const;

  const machine::Topology* topology_;
  bool adaptive_;
  CycleRule rule_ = CycleRule::none;
  mutable std::vector<machine::LinkId> links_;
  // Distances to the last destinations, where no rule tells them.
  std::vector<machine::IncomingLinks> incoming_;  // one, or none
  std::size_t capacity_ = 0;
  mutable std::vector<std::int32_t> slot_;  // by destination; -1: not there
  mutable std::vector<Table> tables_;
  mutable std::size_t oldest_ = 0;
};

}  // namespace foretrace::sim
