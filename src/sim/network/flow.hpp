// FlowNetwork: messages are fluids that share the links of their routes max-min
// fairly.
//
// docs/networks.md, "flow". The rates are MaxMin's (max_min.hpp); here are the
// clock, the bytes and the routes. A connection has one message under way, the
// others queue behind it. The messages under way from one node to
// another have one rate, so they are one *stream*. The streams with one bottleneck
// have one rate, too: they are a *class*. A class counts the bytes that each message
// on it has been served; a message has gone when its own are. When a rate changes, only
// its class does; a stream is touched when its messages or its class change.
// Time is whole picoseconds, also between changes: a flow ends, and the
// others take its share, at the picosecond nearest to its end.
//
// Bytes are whole numbers of 2^-64 bytes, so nothing depends on how often they
// are brought up to date. Rates are computed when time goes on: once for all that
// starts and ends at one time.
//
// Streams without messages stay for a while, as a cache of routes. Memory follows
// what is under way, the links used, and kIdleStreams.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/slots.hpp"
#include "sim/network/end_heap.hpp"
#include "sim/network/link_usage.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/shared_network.hpp"
#include "topology/topology.hpp"

namespace foretrace::sim {

class FlowNetwork final : public SharedNetwork {
 public:
  static constexpr std::size_t kIdleStreams = std::size_t{1} << 16;

  // The topology must outlive the network. A link takes from `fallback` what it
  // does not say itself; what that does not say either is no latency, no limit.
  explicit FlowNetwork(const machine::Topology& topology, const machine::LinkSpeed& fallback = {},
                       Bytes piece = kPiece);

  // Throws Error if there is no way from one to the other; so does latency().
  void inject(MessageId message, const Way& way, Bytes bytes, Time time) override;
  Time next() const override;
  void advance(std::vector<Arrival>& arrivals) override;
  Time latency(machine::NodeId from, machine::NodeId to) const override;
  std::vector<LinkLoad> loads() const { return usage_.loads(); }
  // The history has a message's bytes in the bins in which they moved.
  const LinkUsage& usage() const override { return usage_; }
  std::size_t memory() const override;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Bytes, in units of 2^-kServedBits.
  using Served = MaxMin::Fixed;
  static constexpr int kServedBits = 64;

  struct Message {
    Served target = 0;  // what the stream has served when this one ends
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;  // until it ends, or pauses
    std::uint64_t rest = 0;   // of one that pauses: what is left then
    std::uint64_t connection = 0;
    std::int64_t told = 0;  // until when the usage has it
    double told_bytes = 0;  // what it has
    MessageId id = 0;
    // std heaps have the greatest on top.
    bool operator<(const Message& other) const {
      return target != other.target ? target > other.target : sequence > other.sequence;
    }
  };
  struct Carrier {
    machine::LinkId link;
    double ps_per_byte = 0;
    MaxMin::Link fair = MaxMin::kNone;  // kNone: no limit
  };
  // Of a link with a limit: the bytes that pass at once when it has rested. It fills at the link's
  // rate while nothing is under way there.
  struct Bucket {
    std::uint64_t bytes = 0;  // 0: none
    double ps_per_byte = 0;
    std::uint32_t under_way = 0;
    std::int64_t missing = 0;  // ps that it needs to be full, since the last change
    std::int64_t changed = 0;
  };
  // All connections from one node to another.
  struct Stream {
    Served offset = 0;                // what it has served of each message, less what its class has
    MaxMin::Link on = MaxMin::kNone;  // its class
    std::uint32_t users = 0;          // messages under way or waiting to start
    double ps_per_byte = 0;           // of the slowest link; 0: none has a limit
    std::vector<Message> messages;    // under way, a heap; one of each connection
    std::uint64_t pair = 0;
    Time latency;
    std::uint32_t next_in_bucket = kNone;
    std::uint32_t older = kNone, newer = kNone;  // while it is idle
    std::vector<Carrier> carriers;
  };
  // The streams that have their bottleneck at one link.
  struct Class {
    Served served = 0;       // up to `updated`
    MaxMin::Fixed rate = 0;  // of each message
    std::int64_t updated = 0;
    bool moved = false;
    int shift = 0;  // of the bins of the usage when these were noted:
    std::int64_t first_bin = 0;
    std::vector<double> at_ends;  // the bytes served at the end of first_bin, and of those after it
    EndHeap<Served> ends;  // streams by what the class has served when their first message ends
  };
  struct Injection {
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
    std::uint64_t connection = 0;
    std::int64_t time = 0;
    std::uint32_t stream = 0;
    MessageId id = 0;
    bool in_pieces = false;
  };
  // Of a connection with a message under way, those behind it: lists of numbers in queued_.
  struct List {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Queue {
    List lists[2];           // by Way::in_pieces
    bool can_pause = false;  // the message under way
  };
  struct Queued {
    Injection injection;
    std::uint32_t next = kNone;
  };
  struct Gone {
    std::uint64_t sequence;
    Arrival arrival;
  };

  machine::LinkSpeed speed_of(machine::LinkId link) const;
  std::uint32_t stream_of(machine::NodeId from, machine::NodeId to);
  std::uint32_t find_stream(std::uint64_t pair) const;
  std::size_t bucket_of(std::uint64_t pair) const;
  std::uint32_t new_stream(machine::NodeId from, machine::NodeId to);
  void route(machine::NodeId from, machine::NodeId to) const;
  void add_bucket(machine::LinkId carrier);
  void grow_buckets();
  void evict_oldest();
  void use(std::uint32_t number);
  void leave(std::uint32_t number);

  static std::int64_t end_of(const Class& on, Served target);
  void update(Class& on, std::int64_t now);
  void note_bins(Class& on, std::int64_t now);
  void widen_bins(Class& on) const;
  Served served_by(const Stream& stream, std::int64_t now);
  void mark_moved(MaxMin::Link link);
  void messages_changed(std::uint32_t number);
  void move(std::uint32_t number, std::int64_t now);
  void end_first_of(std::uint32_t number, std::int64_t now);
  void end_flows(std::int64_t now);
  void start_flows(std::int64_t now);
  bool start(const Injection& injection, std::int64_t now);
  Injection with_header(Injection first) const;
  std::uint64_t take_burst(const Stream& stream, std::uint64_t bytes, std::int64_t now);
  void count_under_way(const Stream& stream, std::uint32_t change, std::int64_t now);
  void put_behind(Queue& queue, const Injection& injection);
  void pause(Queue& queue, const Injection& first, std::int64_t now);
  void put_rest(std::uint32_t stream, const Message& message, std::int64_t now);
  void start_next(std::uint64_t connection, std::int64_t now);
  void share();
  void carried_by_bins(const Stream& stream, Message& message, std::int64_t now);
  void carried(const Stream& stream, Message message, std::uint64_t messages, std::int64_t now);
  void gone(std::uint32_t number, const Message& message, std::int64_t now);

  const machine::Topology& topology_;
  machine::LinkSpeed fallback_;
  Bytes piece_;
  bool one_latency_ = true;  // of all links that take one
  Time link_latency_;
  mutable std::vector<machine::LinkId> route_;

  std::vector<Stream> streams_;  // numbers are MaxMin's flows
  std::vector<std::uint32_t> free_streams_;
  std::vector<std::uint32_t> buckets_;  // a power of two
  std::size_t idle_ = 0;
  std::uint32_t oldest_ = kNone, newest_ = kNone;  // idle

  MaxMin fair_;
  std::vector<std::uint32_t> fair_link_;  // by link number, kNone: not yet
  std::vector<MaxMin::Link> limits_;      // of a new stream
  std::vector<Class> classes_;            // by link of fair_
  bool has_bursts_ = false;               // any link
  std::vector<Bucket> bursts_;            // if so, by link of fair_
  HeapPlaces stream_places_;              // in the class's heap
  EndHeap<std::int64_t> ends_;            // classes by time
  HeapPlaces class_places_;
  std::vector<MaxMin::Link> moved_;  // classes whose end must be computed
  bool shared_ = true;               // else rates and ends are those before changed_at_
  std::int64_t changed_at_ = 0;
  bool may_end_ = false;  // at the picosecond at which it started: one of this advance()

  std::vector<Injection> waiting_;                   // from first_waiting_ on, by time
  std::unordered_map<std::uint64_t, Queue> queues_;  // by connection
  Slots<Queued> queued_;
  std::vector<std::uint64_t> ended_;  // connections, in one end_flows()
  std::size_t first_waiting_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<Gone> gone_;  // in one advance()
  LinkUsage usage_;
  std::vector<double> moved_by_;  // in one carried_by_bins()
};

}  // namespace foretrace::sim
