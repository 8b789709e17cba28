#include "sim/matcher.hpp"

#include "base/error.hpp"

namespace foretrace::sim {
namespace {

std::uint64_t mix(std::uint64_t source_tag, trace::CommId comm) {
  std::uint64_t hash = (source_tag + comm * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

}  // namespace

Matcher::Matcher(int ranks) : inboxes_(static_cast<std::size_t>(ranks)) {}

Matcher::Channel& Matcher::probe(Inbox& inbox, std::uint64_t source_tag, trace::CommId comm) {
  const std::size_t mask = inbox.channels.size() - 1;
  std::size_t at = mix(source_tag, comm) & mask;
  for (;; at = (at + 1) & mask) {
    Channel& channel = inbox.channels[at];
    if (!channel.used || (channel.source_tag == source_tag && channel.comm == comm)) return channel;
  }
}

void Matcher::make_room(Inbox& inbox) {
  std::size_t busy = 0;
  for (const Channel& channel : inbox.channels) busy += channel.head != kNone;
  std::size_t size = inbox.channels.empty() ? 4 : inbox.channels.size();
  while (busy * 2 >= size) size *= 2;
  std::vector<Channel> old(size);
  old.swap(inbox.channels);
  inbox.used = 0;
  for (const Channel& channel : old) {
    if (channel.head == kNone) continue;
    probe(inbox, channel.source_tag, channel.comm) = channel;
    ++inbox.used;
  }
}

Matcher::Channel& Matcher::channel(const Route& route) {
  Inbox& inbox = inboxes_[static_cast<std::size_t>(route.destination.value)];
  const std::uint64_t source_tag =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(route.source.value)) << 32 |
      static_cast<std::uint32_t>(route.tag);
  if (!inbox.channels.empty()) {
    Channel& found = probe(inbox, source_tag, route.comm);
    if (found.used) return found;
  }
  // At most three quarters are in use, so that probe() always ends.
  if ((inbox.used + 1) * 4 > inbox.channels.size() * 3) make_room(inbox);
  Channel& fresh = probe(inbox, source_tag, route.comm);
  fresh.source_tag = source_tag;
  fresh.comm = route.comm;
  fresh.used = true;
  ++inbox.used;
  return fresh;
}

Matcher::Node& Matcher::append(Channel& channel) {
  std::uint32_t index = free_;
  if (index != kNone) {
    free_ = nodes_[index].next;
  } else {
    if (nodes_.size() == kNone) throw Error("more than 4e9 messages are under way at once");
    index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  if (channel.head == kNone)
    channel.head = index;
  else
    nodes_[channel.tail].next = index;
  channel.tail = index;
  nodes_[index].next = kNone;
  return nodes_[index];
}

Matcher::Node Matcher::take_first(Channel& channel) {
  const std::uint32_t index = channel.head;
  const Node node = nodes_[index];
  channel.head = node.next;
  nodes_[index].next = free_;
  free_ = index;
  return node;
}

std::optional<PendingRecv> Matcher::send(const Route& route, const PendingSend& message) {
  Channel& queue = channel(route);
  if (queue.head != kNone && !queue.holds_sends) {
    const Node node = take_first(queue);
    return PendingRecv{node.time, node.kind, node.request};
  }
  queue.holds_sends = true;
  Node& node = append(queue);
  node.time = message.stamp.sent;
  node.bytes = message.stamp.bytes;
  node.rendezvous = message.stamp.rendezvous;
  node.mode = message.mode;
  node.request = message.request;
  node.order = message.order;
  node.flight = message.flight;
  return std::nullopt;
}

std::optional<PendingSend> Matcher::first_message(const Route& route) {
  const Channel& queue = channel(route);
  if (queue.head == kNone || !queue.holds_sends) return std::nullopt;
  return message(nodes_[queue.head]);
}

std::optional<PendingSend> Matcher::take_message(const Route& route) {
  Channel& queue = channel(route);
  if (queue.head == kNone || !queue.holds_sends) return std::nullopt;
  return message(take_first(queue));
}

std::optional<PendingSend> Matcher::receive(const Route& route, const PendingRecv& receive) {
  Channel& queue = channel(route);
  if (queue.head != kNone && queue.holds_sends) return message(take_first(queue));
  queue.holds_sends = false;
  Node& node = append(queue);
  node.time = receive.entered;
  node.kind = receive.kind;
  node.request = receive.request;
  return std::nullopt;
}

std::size_t Matcher::memory() const {
  std::size_t bytes = nodes_.capacity() * sizeof(Node) + inboxes_.capacity() * sizeof(Inbox);
  for (const Inbox& inbox : inboxes_) bytes += inbox.channels.capacity() * sizeof(Channel);
  return bytes;
}

}  // namespace foretrace::sim
