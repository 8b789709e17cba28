// PacketNetwork: messages as packets that go hop by hop through switches with
// finite input buffers.
//
// docs/networks.md (packet) has the rules. Everything due at one time is done in
// three steps, each for the whole network: packets leave links; packets come to
// nodes, in a fixed order; idle links take up packets. Hence no result depends
// on the order of events in a queue. Where links or latencies take no time at all the steps
// are repeated. Packets exist from when they come to the head of their source's queue.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network/link_usage.hpp"
#include "sim/network/packet_events.hpp"
#include "sim/network/packet_routing.hpp"
#include "sim/network/shared_network.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

struct PacketOptions {
  Bytes packet_size{2048};
  int buffer_packets = 16;  // places in the input buffer at the end of each link
  Bytes piece = kPiece;     // Way::in_pieces
  bool adaptive = false;
  // Without: full buffers that wait for each other in a circle stop the run.
  bool avoid_deadlock = true;
};

class PacketNetwork final : public SharedNetwork {
 public:
  // defaults: for links without a speed of their own; without these a link
  // takes no time. The topology must outlive the network. Throws UsageError for
  // options that cannot work.
  PacketNetwork(const machine::Topology& topology, const machine::LinkSpeed& defaults,
                const PacketOptions& options = {});

  // Throws Error if there is no way, or if time goes back.
  void inject(MessageId message, const Way& way, Bytes bytes, Time time) override;
  Time next() const override { return Time::ps(next_); }
  // Reports a message at the time at which it is there. Throws Error if packets
  // are left that can never go on.
  void advance(std::vector<Arrival>& arrivals) override;
  // What an empty message takes.
  Time latency(machine::NodeId from, machine::NodeId to) const override;
  std::vector<LinkLoad> loads() const { return usage_.loads(); }
  std::size_t memory() const override;

  // A message's last packet is on its first link.
  std::span<const Departure> departures() const override { return departures_; }

  const LinkUsage& usage() const override { return usage_; }
  // Packets times links, so far.
  std::uint64_t packet_hops() const { return packet_hops_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A speed that some links have.
  struct Speed {
    std::int64_t latency = 0;
    std::int64_t full_packet = 0;  // time on the link
    std::int64_t burst = 0;        // the time that as many bytes take; the depth of the bucket
    double bytes_per_second = 0;   // may be infinite
  };

  // A link with the queue before it (of a bus, one of its links has the queue
  // for all) and what is left of the buffer at its end.
  struct alignas(64) Link {
    std::uint32_t sending = kNone;  // packet
    std::uint32_t first = kNone;    // packets that wait, in the order of coming
    std::uint32_t last = kNone;
    std::uint32_t waiting = 0;
    std::int32_t room = 0;
    std::int32_t server = 0;  // the link that has its queue
    std::int32_t speed = 0;
    std::int32_t to = 0;
    // The source's own queue for this link. One packet of it waits with the
    // others or is on the link (own_out); the rest is parts of messages.
    std::uint32_t own_first = kNone;
    std::uint32_t own_last = kNone;
    std::uint64_t own_packets = 0;
    bool own_out = false;
    std::uint8_t ring = 0;
    std::int64_t full_at = 0;  // when its bucket is full again
  };

  struct Packet {
    std::int64_t came = 0;      // to the node where it waits
    std::uint32_t message = 0;  // slot
    std::uint32_t next = kNone;
    std::uint32_t before = kNone;
    std::uint32_t hop = 0;  // links done
    // The link in whose buffer it lies; while it is its source's: the number of
    // links + the link it wants, so that these are last among equals.
    std::uint32_t in = 0;
    PacketHop way;
    std::uint8_t places = 1;  // that must be free
    bool is_first = false;    // of its message
    bool is_last = false;
  };

  // The packets of a message that wait for one link of its source.
  struct Part {
    std::uint32_t message = 0;
    std::uint32_t next = kNone;
    std::int32_t buffer = 0;
    bool has_first = false;
    bool has_last = false;
    std::uint64_t packets = 0;
    std::uint64_t piece = 0;  // packets of it that are left; 0: one that leaves as a whole
  };

  struct Message {
    MessageId id = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    bool in_pieces = false;
    std::int32_t last_speed = -1;  // for which last_time is known
    std::int64_t last_time = 0;    // the last packet's, on a link
    std::uint64_t bytes = 0;
    std::uint64_t last_bytes = 0;
    std::uint64_t connection = 0;
    std::int64_t entered = 0;
    std::int64_t sent = 0;
    std::uint64_t order = 0;  // of injection
    std::uint64_t packets = 0;
    std::uint64_t to_send = 0;  // packets
    std::uint64_t to_arrive = 0;
  };

  // Way::connection; known where messages have headers.
  struct Connection {
    std::uint32_t to_send = 0;  // messages
    std::int64_t busy_until = 0;
  };

  struct Finished {
    std::uint64_t order = 0;
    MessageId id = 0;
    std::int64_t sent = 0;
  };

  void make_links(const machine::LinkSpeed& defaults);
  Link& link(std::int32_t number) { return links_[static_cast<std::size_t>(number)]; }
  const Link& link(std::int32_t number) const { return links_[static_cast<std::size_t>(number)]; }
  bool is_own(const Packet& packet) const { return packet.in >= links_.size(); }
  std::int64_t time_on(std::int32_t speed, const Packet& packet);
  std::int64_t time_of(std::int32_t speed, std::uint64_t bytes) const;
  PacketHop& route_at(std::uint32_t message, std::uint32_t hop) {
    return routes_[static_cast<std::size_t>(message) * route_stride_ + hop];
  }

  // The steps of one time.
  void look_ahead(std::uint32_t packet) const;
  void end_sending(std::uint32_t number);
  void arrive(std::uint32_t number);
  void take_arrivals();
  void enter(std::uint32_t message);
  void next_own(std::uint32_t number);
  void start(std::uint32_t number);

  void store_route(std::uint32_t message);
  [[noreturn]] void no_way(machine::NodeId from, machine::NodeId to) const;
  void add_part(std::uint32_t message, PacketHop way, std::uint64_t packets, bool has_first,
                bool has_last);
  void put_last(Link& own, std::uint32_t part);
  std::uint64_t packets_of(std::uint64_t bytes) const;
  std::uint64_t header_of(std::uint64_t connection);
  void spread(std::uint32_t message);
  PacketHop least_loaded() const;
  std::uint64_t load(std::int32_t number) const;
  void wait_for(std::uint32_t packet, PacketHop way);
  void enqueue(std::uint32_t packet);
  void unlink(Link& queue, std::uint32_t packet);
  void begin_sending(std::uint32_t number, std::uint32_t packet);
  std::uint32_t startable(const Link& queue) const;
  bool has_room(const Packet& packet) const;
  void take_room(const Packet& packet);
  void give_room(const Packet& packet);
  void touch(std::int32_t server);
  void deliver(std::uint32_t packet);
  void report(std::vector<Arrival>& arrivals);
  void find_next();
  [[noreturn]] void stuck() const;

  const machine::Topology* topology_;
  PacketRouting routing_;
  Bytes packet_size_;
  std::uint64_t piece_packets_ = 1;
  std::int32_t buffer_packets_;
  CycleRule rule_;
  bool in_order_;  // the first that waits is the only one that may start

  std::int64_t now_ = 0;
  std::int64_t next_ = PacketEvents::kNever;
  std::vector<Speed> speeds_;
  std::vector<Link> links_;
  std::vector<std::vector<std::int32_t>> used_;  // channels: places taken, by link and hop
  std::vector<Packet> packets_;
  std::vector<Part> parts_;
  std::vector<Message> messages_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::vector<PacketHop> routes_;  // minimal: by message, ended by a link of -1
  std::size_t route_stride_ = 8;
  std::vector<std::uint32_t> free_packets_;
  std::vector<std::uint32_t> free_parts_;
  std::vector<std::uint32_t> free_messages_;

  PacketEvents ends_;                    // of sending; by link
  PacketEvents arrivals_;                // at the next node; by packet
  std::vector<std::uint32_t> entering_;  // messages, by time; done: entered_
  std::size_t entered_ = 0;
  std::vector<std::uint32_t> own_due_;  // links whose own packet has left
  std::vector<std::uint32_t> touched_;  // links that may start a packet
  std::vector<std::uint32_t> coming_;   // adaptive: packets, to be put in order
  std::vector<Finished> finished_;
  std::vector<Finished> leaving_;
  std::vector<Departure> departures_;
  mutable std::vector<PacketHop> steps_;

  std::uint64_t under_way_ = 0;
  std::uint64_t injected_ = 0;
  std::uint64_t packet_hops_ = 0;
  LinkUsage usage_;
};

}  // namespace foretrace::sim
