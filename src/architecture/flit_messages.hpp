// FlitMessages: messages of a program on switches with virtual channels and credits.
//
// A SharedNetwork for the simulator's engine over a FlitNetwork: a message is cut into packets,
// these into flits, which wait in their processor's queue for the switch. For machines whose
// switches have the levels vc and crossbar; message_network.hpp has the others.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "architecture/flat_fabric.hpp"
#include "architecture/flit_network.hpp"
#include "architecture/message_network.hpp"

namespace foretrace::architecture {

// Whether a program's messages are simulated flit by flit. Throws Error where some switches have
// levels for that and others do not.
bool takes_flits(const FlatArchitecture& architecture);

struct FlitOptions {
  Bytes packet_size{2048};
  // Of the delays in switches and links, in whole cycles; of the bytes of a flit.
  double latency = 1, bandwidth = 1;
};

class FlitMessages final : public sim::SharedNetwork, private Listener {
 public:
  // Architecture, graph and recording must outlive the network. Throws Error for what lies between
  // processors and switches, and for links of another speed than their switches'.
  FlitMessages(const FlatArchitecture& architecture, const MessageGraph& graph,
               const FlitOptions& options, Recording* recording = nullptr);

  void inject(sim::MessageId message, const sim::Way& way, Bytes bytes, Time time) override;
  Time next() const override;
  void advance(std::vector<sim::Arrival>& arrivals) override;
  std::span<const sim::Departure> departures() const override { return departures_; }
  Time latency(machine::NodeId from, machine::NodeId to) const override;
  const sim::LinkUsage& usage() const override { return usage_; }
  std::size_t memory() const override;

 private:
  struct Message {
    sim::MessageId id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t to_leave = 0, to_arrive = 0;  // packets
    std::uint64_t order = 0;
    Time sent;
    std::uint64_t connection = 0;
  };
  struct Done {
    std::uint64_t order = 0;
    sim::Arrival arrival;
  };

  void left(std::uint32_t packet, std::int64_t cycle) override;
  void arrived(std::uint32_t packet, std::int64_t cycle) override;
  void passed(std::uint32_t packet, int router, int port) override;

  void refuse_others() const;
  void scale(const FlitOptions& options);
  void find_links();
  void carry(std::uint32_t packet, std::int32_t link, std::int64_t begun, int cycles);
  void record(MessageRecord::Kind kind, std::uint32_t packet, int from, int to, std::uint64_t bytes,
              std::int64_t begin, std::int64_t end);
  // A packet's tag: its message's number, and whether it is the first of it.
  Message& of(std::uint32_t packet) { return messages_[network_->packet(packet).tag / 2]; }
  std::int64_t flits_of(std::uint64_t bytes) const;

  const FlatArchitecture& architecture_;
  const MessageGraph& graph_;
  FlatFabric fabric_;
  std::uint64_t packet_size_;
  Recording* recording_;
  std::unique_ptr<FlitNetwork> network_;
  std::unique_ptr<FabricRouter> ways_;
  std::vector<std::int32_t> entry_;               // by terminal: its link, -1: within one entity
  std::vector<std::vector<std::int32_t>> links_;  // by router and port
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
  // By connection: its messages under way, in order. One that is there waits for those before it.
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> under_way_;
  std::uint64_t order_ = 0;
  std::vector<Done> done_;
  std::vector<std::pair<std::uint64_t, sim::Departure>> left_;
  std::vector<sim::Departure> departures_;
  sim::LinkUsage usage_;
};

}  // namespace foretrace::architecture
