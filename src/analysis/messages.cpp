#include "analysis/messages.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

// Communicator, sender, receiver, tag.
using Channel = std::tuple<trace::CommId, std::int32_t, std::int32_t, std::int32_t>;
using Channels = std::map<Channel, std::deque<std::size_t>>;

Channels sends_of(const trace::Trace& trace) {
  Channels channels;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const auto& events = trace.ranks[rank];
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                         event.kind == EventKind::sendrecv;
      if (!sends || !event.send.peer.valid()) continue;
      channels[{event.comm, static_cast<std::int32_t>(rank), event.send.peer.value, event.send.tag}]
          .push_back(i);
    }
  }
  return channels;
}

// A receive in the order in which MPI matches, and the event that ends it.
struct Receive {
  trace::CommId comm = 0;
  std::int32_t source = -1;
  std::int32_t tag = 0;
  std::size_t end = 0;
  bool complete = false;
};

// A posted receive takes its place when it is posted, a matched probe when it
// takes the message; what came, and when, is known later.
std::vector<Receive> receives_of(const std::vector<Event>& events) {
  std::vector<Receive> receives;
  std::unordered_map<std::uint64_t, std::size_t> open;  // request or probe -> place
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const auto add = [&](bool complete) {
      receives.push_back({event.comm, event.recv.peer.value, event.recv.tag, i, complete});
      return receives.size() - 1;
    };
    switch (event.kind) {
      case EventKind::recv:
      case EventKind::sendrecv:
        if (const auto probe = open.find(event.taken); event.taken != 0 && probe != open.end()) {
          receives[probe->second].end = i;
          receives[probe->second].complete = true;
        } else if (event.recv.peer.valid()) {
          add(true);
        }
        break;
      case EventKind::irecv:
        if (const auto probe = open.find(event.taken); event.taken != 0 && probe != open.end())
          open[event.request] = probe->second;
        else
          open[event.request] = add(false);
        break;
      case EventKind::probe:
        if (event.recv.peer.valid()) open[event.request] = add(false);
        break;
      case EventKind::complete:
        for (const trace::Completion& done : event.completions) {
          const auto posted = open.find(done.request);
          if (posted == open.end()) continue;
          Receive& receive = receives[posted->second];
          if (!done.cancelled && done.source.valid()) {
            receive.source = done.source.value;
            receive.tag = done.tag;
            receive.end = i;
            receive.complete = true;
          }
          open.erase(posted);
        }
        break;
      default:
        break;
    }
  }
  return receives;
}

}  // namespace

std::vector<Message> pair_messages(const trace::Trace& trace) {
  Channels sends = sends_of(trace);
  std::vector<Message> messages;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const auto me = static_cast<std::int32_t>(rank);
    for (const Receive& receive : receives_of(trace.ranks[rank])) {
      if (!receive.complete) continue;
      const auto channel = sends.find({receive.comm, receive.source, me, receive.tag});
      if (channel == sends.end() || channel->second.empty()) continue;
      const std::size_t send = channel->second.front();
      channel->second.pop_front();
      messages.push_back({WorldRank(receive.source), WorldRank(me), send, receive.end,
                          trace.ranks[static_cast<std::size_t>(receive.source)][send].enter,
                          trace.ranks[rank][receive.end].leave});
    }
  }
  return messages;
}

std::uint64_t count_clock_violations(const trace::Trace& trace) {
  const std::vector<Message> messages = pair_messages(trace);
  return static_cast<std::uint64_t>(
      std::ranges::count_if(messages, [](const Message& m) { return m.received < m.sent; }));
}

}  // namespace foretrace::analysis
