// MessageWays: over which links of an architecture a message goes, and what keeps its packets from
// waiting for each other in a circle.
//
// Where one template holds all, its own routes lead from element to element, whether an element is
// one entity or a tree of several; elsewhere those with the fewest hops. Asked by MessageNetwork,
// which has the queues.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "architecture/message_network.hpp"
#include "sim/network/packet_routing.hpp"

namespace foretrace::architecture {

class MessageWays {
 public:
  // All must outlive it. topology: the graph's, or one with other speeds.
  MessageWays(const FlatArchitecture& architecture, const MessageGraph& graph,
              const machine::Topology& topology);

  sim::CycleRule rule() const { return outer_ ? outer_->routing.rule() : whole_.rule(); }
  // By link of the graph, as PacketRouting::ring_directions().
  std::vector<std::uint8_t> ring_directions() const;
  // `to` is a processor; false if there is no way.
  bool route(machine::NodeId from, machine::NodeId to, std::vector<sim::PacketHop>& hops) const;
  std::size_t memory() const;

 private:
  // The template whose elements have several entities.
  struct Outer {
    explicit Outer(const machine::Shape& shape);
    machine::Topology topology;
    sim::PacketRouting routing;
    std::vector<std::int32_t> element;   // by node of the graph: the node of the template
    std::vector<std::int32_t> up, down;  // by node: links to and from its element's own port; -1
    std::vector<std::int32_t> link;      // by link of the template
  };
  std::unique_ptr<Outer> outer_of(const FlatArchitecture& architecture) const;
  bool find_elements(const FlatArchitecture& architecture, const TemplateUse& use,
                     Outer& outer) const;

  const MessageGraph& graph_;
  sim::PacketRouting whole_;
  std::unique_ptr<Outer> outer_;  // none: the graph's own routes
};

}  // namespace foretrace::architecture
