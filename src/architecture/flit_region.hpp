// FlitRegion: the switches of an architecture that count flits, as one part of a MessageNetwork.
//
// Units of messages (packets) enter it where a link leads into such a switch, and leave it where
// one leads out; between, a FlitNetwork has them as flits, with virtual channels and credits or
// ideal. What lies around the switches is MessageNetwork's.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "architecture/flat_fabric.hpp"
#include "architecture/flit_network.hpp"
#include "architecture/message_network.hpp"
#include "sim/network/packet_routing.hpp"

namespace foretrace::architecture {

class FlitRegion final : private Listener {
 public:
  // A unit, with what a recording says of it.
  struct Unit {
    std::uint32_t number = 0;  // the owner's
    std::uint64_t order = 0;   // its message's
    bool first = false;        // of its message
  };
  // What the owner hears, with a unit's number: it has left its terminal; it is behind the region.
  struct Owner {
    std::function<void(std::uint32_t, Time)> left, there;
    std::function<void(const MessageRecord&)> record;  // ends as nodes
    sim::LinkUsage* usage = nullptr;
  };
  // latency, bandwidth: factors of the delays in switches and links, in whole cycles; of the bytes
  // of a flit. Architecture and graph must outlive it. Throws Error for links of another speed than
  // their switches', and for buses.
  FlitRegion(const FlatArchitecture& architecture, const MessageGraph& graph, double latency,
             double bandwidth, Owner owner);

  // Whether a node is one of the switches; whether a link touches one.
  bool holds(std::int32_t node) const { return router_[static_cast<std::size_t>(node)] >= 0; }
  bool touches(std::int32_t link) const;
  // Of a route, the last hop of those in the region that begin with `first`.
  std::size_t last_hop(const std::vector<sim::PacketHop>& route, std::size_t first) const;

  // Over the hops first .. last of a route. A flit waits for the beginning of a cycle.
  void enter(const Unit& unit, const std::vector<sim::PacketHop>& route, std::size_t first,
             std::size_t last, std::uint64_t bytes, std::int64_t time);
  // A flit alone.
  Time latency(const std::vector<sim::PacketHop>& route, std::size_t first, std::size_t last) const;

  entity::Ps next() const { return network_->kernel().next(); }
  // How many flits are in each switch is told there from now on.
  void record_states(Recording& recording);
  // All that is due at `next()`.
  void advance();
  std::uint64_t under_way() const { return network_->under_way(); }
  std::uint64_t events() const { return network_->kernel().events(); }
  std::size_t memory() const;

 private:
  void left(std::uint32_t packet, std::int64_t cycle) override;
  void arrived(std::uint32_t packet, std::int64_t cycle) override;
  void passed(std::uint32_t packet, int router, int port) override;

  void refuse_speeds() const;
  void scale(double latency, double bandwidth);
  void find_links();
  // Links that are alike have a terminal each.
  int terminal(std::int32_t link, bool into, std::uint32_t turn = 0) const;
  void carry(std::uint32_t packet, std::int32_t link, std::int64_t begun, int cycles);

  const FlatArchitecture& architecture_;
  const MessageGraph& graph_;
  FlatFabric fabric_;
  Owner owner_;
  std::unique_ptr<FlitNetwork> network_;
  std::unique_ptr<FabricRouter> ways_;
  std::vector<std::int32_t> router_;              // by node, -1: none
  std::vector<std::int32_t> own_;                 // by node: the terminal of a router's own
  std::vector<std::int32_t> entry_;               // by terminal: its link, -1: within one entity
  std::vector<std::vector<std::int32_t>> links_;  // by router and port
  std::vector<std::vector<int>> terminals_;       // by link into a router, or out of one
  std::vector<std::uint32_t> turns_;              // by link: of its terminals
  std::vector<Unit> units_;                       // by packet
  Recording* recording_ = nullptr;
  std::vector<std::uint32_t> quantities_;  // by router
  std::vector<std::int64_t> told_;
};

// Whether a program's messages pass switches flit by flit. Throws Error where some switches have
// levels for that and others do not.
bool takes_flits(const FlatArchitecture& architecture);

}  // namespace foretrace::architecture
