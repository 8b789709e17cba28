// Matcher: which message goes into which receive.
//
// MPI's rule: a receive takes a message of its communicator, source and tag;
// among those, messages are taken in the order in which they were sent and
// receives served in the order in which they were posted (MPI 4.0, section
// 3.5). So each (communicator, source, destination, tag) is a channel with one
// queue, and a match takes constant time. Wildcards are resolved before they
// come here. Knows no times: it carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

// One end of a message that waits for the other end.
struct PendingSend {
  machine::MessageStamp stamp;
  machine::SendMode mode = machine::SendMode::standard;
  std::uint64_t request = 0;  // 0: the sender is in the call
  std::uint32_t order = 0;    // among the sender's messages
  std::uint32_t flight = 0;   // carried along for the engine
  std::uint64_t payload = 0;  // the same
  Time through{};             // the same
  std::uint64_t stalled = 0;  // the same
  bool silent = false;        // takes no time; forgotten where the message waits
};

struct PendingRecv {
  Time entered;
  machine::RecvKind kind = machine::RecvKind::blocking;
  std::uint64_t request = 0;  // 0: the receiver is in the call
};

struct Route {
  trace::CommId comm = 0;
  WorldRank source;
  WorldRank destination;
  std::int32_t tag = 0;
};

class Matcher {
 public:
  explicit Matcher(int ranks);

  // The receive that has been waiting for this message; else the message waits.
  std::optional<PendingRecv> send(const Route& route, const PendingSend& message);
  // The message that has been waiting for this receive; else the receive waits.
  std::optional<PendingSend> receive(const Route& route, const PendingRecv& receive);

  // A message to `destination` comes soon.
  void prefetch(WorldRank destination) const {
    __builtin_prefetch(&inboxes_[static_cast<std::size_t>(destination.value)]);
  }
  // Whether nothing waits on the route: no message, no receive.
  bool is_empty(const Route& route) const;

  // The first message of the route, if one waits; it goes on waiting.
  std::optional<PendingSend> first_message(const Route& route) const;
  // The same, but it is taken.
  std::optional<PendingSend> take_message(const Route& route);
  // A posted receive that waits on the route is there no more; false if there is
  // none of that number.
  bool withdraw(const Route& route, std::uint64_t request);
  // The same for a message; nullopt if none of that number waits.
  std::optional<PendingSend> withdraw_message(const Route& route, std::uint64_t request);
  // Calls see(route, message) for every message that waits at `destination`:
  // those of one route in the order of sending, the routes in no particular one.
  template <class See>
  void for_each_message(WorldRank destination, See see) const {
    for (const Channel& channel : inboxes_[static_cast<std::size_t>(destination.value)].channels) {
      if (!channel.used || !channel.holds_sends) continue;
      const Route route{channel.comm,
                        WorldRank(static_cast<std::int32_t>(channel.source_tag >> 32)), destination,
                        static_cast<std::int32_t>(channel.source_tag)};
      for (std::uint32_t at = channel.head; at != kNone; at = nodes_[at].next)
        see(route, message(nodes_[at]));
    }
  }

  std::size_t memory() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    std::uint32_t next = kNone;
    machine::SendMode mode = machine::SendMode::standard;
    machine::RecvKind kind = machine::RecvKind::blocking;
    bool rendezvous = false;
    bool untouched = false;
    Time time;
    Bytes bytes;
    std::uint64_t request = 0;
    std::uint32_t order = 0;
    std::uint32_t flight = 0;
    std::uint64_t payload = 0;
    Time through;
    std::uint64_t stalled = 0;
  };
  static PendingSend message(const Node& node) {
    return {{node.time, node.bytes, node.rendezvous, node.untouched},
            node.mode,
            node.request,
            node.order,
            node.flight,
            node.payload,
            node.through,
            node.stalled};
  }
  // Nodes of one route, at least one; all are sends, or all are receives.
  struct Channel {
    std::uint64_t source_tag = 0;
    trace::CommId comm = 0;
    bool used = false;
    bool holds_sends = false;
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };
  // The channels on which something waits at one rank: open addressing, a power
  // of two. One that becomes empty is dropped at once, so that the table is small
  // and near, however many partners and tags a rank has.
  struct Inbox {
    std::vector<Channel> channels;
    std::uint32_t used = 0;
  };

  // The route's channel, or nullptr where nothing waits.
  const Channel* find(const Route& route) const;
  Channel* find(const Route& route) {
    return const_cast<Channel*>(static_cast<const Matcher*>(this)->find(route));
  }
  // Where the channel is, or would be.
  static std::size_t slot(const Inbox& inbox, std::uint64_t source_tag, trace::CommId comm);
  static void make_room(Inbox& inbox);
  static void erase(Inbox& inbox, Channel& channel);
  Node& append(const Route& route, Channel* channel, bool sends);
  Node take_first(const Route& route, Channel& channel);
  std::optional<Node> take(const Route& route, bool sends, std::uint64_t request);

  std::vector<Inbox> inboxes_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
};

}  // namespace foretrace::sim
