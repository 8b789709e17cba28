// MessageNetwork's inside: the queues of links and the units that pass them. Only for the sources
// of MessageNetwork.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "architecture/ethernet.hpp"
#include "architecture/flit_region.hpp"
#include "architecture/message_network.hpp"
#include "architecture/message_ways.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {

using machine::LinkId;
using machine::NodeId;
using machine::NodeKind;
using sim::CycleRule;
using sim::PacketHop;

enum class Step : std::uint32_t { end, come, enter, own, serve, start };
// Packets leave links; packets come to nodes; links start packets.
constexpr std::uint32_t kLeave = 0;
constexpr std::uint32_t kCome = 1;
constexpr std::uint32_t kStart = 2;

constexpr std::int32_t kNone = -1;

// Which unit that waits for a bus is next; stations are its links, in the order of the description.
enum class Arbiter : std::uint8_t { fifo, round_robin, priority };
constexpr int kCacheMemory = 1;  // the number of a cache's port `memory`

inline std::int64_t time_of(double bytes_per_second, std::uint64_t bytes) {
  return Time::from_seconds(static_cast<double>(bytes) / bytes_per_second).count_ps();
}

// Equal values are multiplied, others added: as the network `hops` does it.
struct Sum {
  double value = 0;
  int times = 0;
  double total = 0;
  bool equal = true;
  void add(double more) {
    equal = equal && (times == 0 || more == value);
    value = more;
    ++times;
    total += more;
  }
  double get() const { return equal ? times * value : total; }
};

class MessageNetwork::Impl {
 public:
  Impl(const FlatArchitecture& architecture, const MessageGraph& graph,
       const machine::Topology& topology, const machine::LinkSpeed& defaults,
       const MessageOptions& options, Recording* recording)
      : architecture_(architecture),
        graph_(graph),
        topology_(topology),
        options_(options),
        recording_(recording),
        routing_(architecture, graph, topology_),
        rule_(routing_.rule()) {
    if (options.packet_size.count < 1)
      throw UsageError("--packet-size: expected 1 byte or more, found 0");
    if (options.buffer_packets < 1)
      throw UsageError("--buffer: expected 1 packet or more, found " +
                       std::to_string(options.buffer_packets));
    if (takes_flits(architecture)) make_flits();
    make_nodes();
    make_links(defaults);
    make_media();
    make_caches();
    if (recording_) make_quantities();
  }

  void inject(sim::MessageId id, const sim::Way& way, Bytes bytes, Time time);
  Time next() const {
    const entity::Ps at = due();
    return at >= entity::kNever ? Time::max() : Time::ps(at);
  }
  void advance(std::vector<sim::Arrival>& arrivals);
  Time latency(NodeId from, NodeId to) const;
  std::vector<std::pair<machine::LinkId, machine::Contention>> contention() const;

  mutable entity::Kernel kernel_;
  std::vector<sim::Departure> departures_;
  sim::LinkUsage usage_;

  std::size_t memory() const {
    return kernel_.memory() + links_.capacity() * sizeof(Link) + units_.capacity() * sizeof(Unit) +
           messages_.capacity() * sizeof(Message) + usage_.memory() + routing_.memory() +
           connections_.size() * (sizeof(Connection) + 32) + (flits_ ? flits_->memory() : 0);
  }
  std::uint64_t events() const { return kernel_.events() + (flits_ ? flits_->events() : 0); }

 private:
  // Units are packets, or whole messages where nothing on the way takes packets.
  struct Unit {
    std::int32_t message = 0;
    std::int32_t hop = 0;
    std::int32_t in =
        0;  // the link by which it came; the number of links + its first: its source's own
    std::uint64_t bytes = 0;
    std::int64_t came = 0;
    PacketHop way;
    std::uint8_t places = 1;
    bool first = false;
    bool last = false;
    // Over links that are never busy: since when, and what they take in all, not rounded yet.
    std::int64_t since = -1;
    Sum start_up, per_byte;
  };
  struct Message {
    sim::MessageId id = 0;
    std::int32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
    std::uint64_t size = 0;  // of a unit
    std::uint64_t units = 0, to_make = 0, to_send = 0, to_arrive = 0;
    std::uint64_t order = 0;
    std::uint64_t connection = 0;
    std::uint64_t place = 0;  // in it
    std::int64_t sent = 0;
    std::int64_t entered = 0;
    bool all_free = true;  // of links that are never busy alone
    std::vector<PacketHop> route;
    std::vector<std::int32_t> held;  // caches that have room for it
  };
  struct Own {
    std::deque<std::int32_t> messages;
    bool out = false;
  };
  struct Link {
    std::int32_t from = 0, to = 0;
    std::int64_t latency = 0;
    double bytes_per_second = 0;
    std::int32_t server = 0;  // the link that has its queue
    std::int32_t channels = 1;
    std::int32_t sending = 0;
    std::int32_t room = 0;
    std::uint8_t ring = 0;
    bool free = false;       // never busy: level hops
    bool flits = false;      // of the region
    bool unlimited = false;  // its end has a buffer without limit
    Arbiter arbiter = Arbiter::fifo;
    std::int32_t turn = kNone;   // round-robin: the link that was served last
    Ethernet* medium = nullptr;  // into one, as this station of it
    int station = 0;
    std::deque<std::int32_t> waiting;  // units, in the order of coming
    Own own;
    std::vector<std::int32_t> used;  // rule channels: places taken, by hop
  };
  // A node of the architecture: what happens there is told to the network.
  class Node final : public entity::Entity {
   public:
    Node(Impl& network, std::int32_t node) : network_(network), node_(node) {}
    void handle(entity::Kernel&, const entity::Event& event) override {
      network_.handle(node_, static_cast<Step>(event.what), static_cast<std::int32_t>(event.data));
    }

   private:
    Impl& network_;
    std::int32_t node_;
  };
  // A NIC, a memory or a cache: units take turns, at a rate, before they go on.
  struct Service {
    bool is_there = false;
    double bytes_per_second = 0;
    std::int64_t latency = 0;
    std::int64_t free = 0;
    bool host_side_only = false;  // what comes from the network passes
    std::int32_t host = -1;       // the node on that side
    bool turns = false;           // rails are taken in turn
    std::uint64_t turn = 0;
  };
  // What turns round in it, from one core to another, goes to the memory behind it if it does not
  // fit.
  struct Cache {
    std::uint64_t size = 0, held = 0;
    std::int32_t into = kNone, back = kNone;  // links to and from that memory
    std::uint32_t quantity = 0;
  };

  Link& link(std::int32_t number) { return links_[static_cast<std::size_t>(number)]; }
  const Link& link(std::int32_t number) const { return links_[static_cast<std::size_t>(number)]; }
  Unit& unit(std::int32_t number) { return units_[static_cast<std::size_t>(number)]; }
  Message& message(std::int32_t number) { return messages_[static_cast<std::size_t>(number)]; }
  bool is_own(const Unit& one) const { return one.in >= static_cast<std::int32_t>(links_.size()); }
  const FlatEntity& entity_of(std::int32_t node) const {
    return architecture_
        .entities[static_cast<std::size_t>(graph_.entity_of[static_cast<std::size_t>(node)])];
  }
  void at(std::int64_t time, std::int32_t node, Step step, std::int32_t data, std::uint32_t phase) {
    kernel_.at(time, static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(step),
               static_cast<std::uint64_t>(data), phase);
  }
  std::int64_t now() const { return kernel_.now(); }

  entity::Ps due() const {
    return flits_ ? std::min(kernel_.next(), flits_->next()) : kernel_.next();
  }
  void make_flits();
  void make_nodes();
  void make_quantities();
  void make_caches();
  void make_links(const machine::LinkSpeed& defaults);
  void make_media();
  void make_medium(std::int32_t node);
  void handle(std::int32_t node, Step step, std::int32_t data);
  // A bus that takes messages whole.
  bool takes_whole(std::int32_t node) const {
    return topology_.graph().kind(node) == NodeKind::bus && whole_[static_cast<std::size_t>(node)];
  }
  void enter(std::int32_t message);
  void next_own(std::int32_t link);
  void come(std::int32_t unit);
  void go_on(std::int32_t unit);
  void wait_for(std::int32_t unit);
  void enter_region(std::int32_t unit);
  void leave_region(std::int32_t unit, std::int64_t time);
  bool comes_after(const Unit& one, const Unit& other) const;
  void touch(std::int32_t server);
  void start(std::int32_t server);
  std::deque<std::int32_t>::iterator next_of(Link& queue);
  void begin(std::int32_t server, std::int32_t unit);
  void left_source(const Unit& one, std::int64_t leaves);
  void end(std::int32_t unit);
  void through(std::int32_t unit, std::int64_t began);
  void pass_free(std::int32_t unit);
  void deliver(std::int32_t unit);
  void is_there(std::int32_t message);
  bool has_room(const Unit& one) const;
  void take_room(const Unit& one);
  void give_room(const Unit& one);
  void choose_rails(Message& made);
  void turn_in_caches(Message& made);
  void leave_caches(Message& made);
  void record(MessageRecord record);
  // So many more wait in a node.
  void wait(std::int32_t node, int change);
  [[noreturn]] void stuck() const;

  const FlatArchitecture& architecture_;
  const MessageGraph& graph_;
  const machine::Topology& topology_;
  MessageOptions options_;
  Recording* recording_;
  MessageWays routing_;
  CycleRule rule_;
  std::deque<Node> nodes_;
  std::unique_ptr<FlitRegion> flits_;
  std::deque<Ethernet> media_;
  std::vector<machine::LinkId> carriers_;  // of the media
  std::vector<Service> services_;
  std::unordered_map<std::int32_t, Cache> caches_;  // by node
  std::vector<std::int32_t> waiting_;               // by node; where it is recorded
  std::vector<std::uint32_t> waiting_quantity_;
  std::vector<bool> whole_;  // by node: does not need packets
  std::vector<Link> links_;
  std::vector<Unit> units_;
  std::vector<std::int32_t> free_units_;
  std::vector<Message> messages_;
  std::vector<std::int32_t> free_messages_;
  std::uint64_t order_ = 0;
  std::uint64_t under_way_ = 0;
  struct Done {
    std::uint64_t order = 0;
    sim::MessageId id = 0;
    std::int64_t sent = 0;
    std::int64_t arrived = 0;
  };
  // Messages of a connection that are there before one that entered earlier wait for it.
  struct Connection {
    std::uint64_t entered = 0, arrived = 0;
    std::vector<std::pair<std::uint64_t, Done>> early;  // by their place
  };
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::vector<Done> done_, left_;
  mutable std::vector<PacketHop> way_;
};

}  // namespace foretrace::architecture
