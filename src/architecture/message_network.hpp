// MessageNetwork: messages of a program on the entities of an architecture.
//
// A SharedNetwork for the simulator's engine, on the kernel of entities. Every node of the
// architecture that messages pass is an entity; a link's start has a queue, its end a buffer. The
// rules are those of docs/networks.md for what the levels stand for: packet (queues, buffers and
// store-and-forward, as the network `packet`), hops (never busy, as `hops`), message (a bus that
// takes messages whole, as `bus`); docs/architecture-files.md has what is new (NIC, memory, rails).
// Switches that count flits are a FlitRegion in the midst of it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "architecture/elaborate.hpp"
#include "architecture/recording.hpp"
#include "foretrace_entity.hpp"
#include "sim/network/link_usage.hpp"
#include "sim/network/packet_routing.hpp"
#include "sim/network/shared_network.hpp"

namespace foretrace::architecture {

// The topology that messages see: processors by rank, then what lies between, with the shape of the
// template where that is all of it. Parallel links are one.
struct MessageGraph {
  std::unique_ptr<machine::Topology> topology;
  std::vector<int> entity_of;  // by node
  std::vector<int> parallel;   // by link: how many
  std::vector<int> ranks;      // by processor: how many it has room for
};
// Throws Error where it has no processors, or entities that no message passes (queues, sources).
MessageGraph message_graph(const FlatArchitecture& architecture);

struct MessageOptions {
  Bytes packet_size{2048};
  int buffer_packets = 16;
  // Of switches that count flits: factors of their delays, and of the bytes of a flit. Links have
  // theirs from the topology.
  double latency = 1, bandwidth = 1;
};

class MessageNetwork final : public sim::SharedNetwork {
 public:
  // topology: the graph's, or one with other speeds. defaults: for links without a speed of their
  // own. All must outlive the network. Throws Error.
  MessageNetwork(const FlatArchitecture& architecture, const MessageGraph& graph,
                 const machine::Topology& topology, const machine::LinkSpeed& defaults,
                 const MessageOptions& options, Recording* recording = nullptr);
  ~MessageNetwork() override;

  void inject(sim::MessageId message, const sim::Way& way, Bytes bytes, Time time) override;
  Time next() const override;
  void advance(std::vector<sim::Arrival>& arrivals) override;
  std::span<const sim::Departure> departures() const override;
  Time latency(machine::NodeId from, machine::NodeId to) const override;
  const sim::LinkUsage& usage() const override;
  std::vector<std::pair<machine::LinkId, machine::Contention>> contention() const override;
  std::size_t memory() const override;
  std::uint64_t events() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::architecture
