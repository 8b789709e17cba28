#include "sim/matcher.hpp"

#include <utility>

#include "base/error.hpp"

namespace foretrace::sim {
namespace {

std::uint64_t mix(std::uint64_t source_tag, trace::CommId comm) {
  std::uint64_t hash = (source_tag + comm * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

std::uint64_t source_tag_of(const Route& route) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(route.source.value)) << 32 |
         static_cast<std::uint32_t>(route.tag);
}

}  // namespace

Matcher::Matcher(int ranks) : inboxes_(static_cast<std::size_t>(ranks)) {}

std::size_t Matcher::slot(const Inbox& inbox, std::uint64_t source_tag, trace::CommId comm) {
  const std::size_t mask = inbox.channels.size() - 1;
  std::size_t at = mix(source_tag, comm) & mask;
  for (;; at = (at + 1) & mask) {
    const Channel& channel = inbox.channels[at];
    if (!channel.used || (channel.source_tag == source_tag && channel.comm == comm)) return at;
  }
}

void Matcher::make_room(Inbox& inbox) {
  std::vector<Channel> old(std::max<std::size_t>(inbox.channels.size() * 2, 4));
  old.swap(inbox.channels);
  for (const Channel& channel : old)
    if (channel.used) inbox.channels[slot(inbox, channel.source_tag, channel.comm)] = channel;
}

// Closes the gap with channels that lie behind it for want of room.
void Matcher::erase(Inbox& inbox, Channel& channel) {
  const std::size_t mask = inbox.channels.size() - 1;
  auto gap = static_cast<std::size_t>(&channel - inbox.channels.data());
  for (std::size_t at = (gap + 1) & mask; inbox.channels[at].used; at = (at + 1) & mask) {
    const std::size_t home = mix(inbox.channels[at].source_tag, inbox.channels[at].comm) & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    inbox.channels[gap] = inbox.channels[at];
    gap = at;
  }
  inbox.channels[gap].used = false;
  --inbox.used;
}

const Matcher::Channel* Matcher::find(const Route& route) const {
  const Inbox& inbox = inboxes_[static_cast<std::size_t>(route.destination.value)];
  if (inbox.used == 0) return nullptr;
  const Channel& channel = inbox.channels[slot(inbox, source_tag_of(route), route.comm)];
  return channel.used ? &channel : nullptr;
}

bool Matcher::is_empty(const Route& route) const {
  return find(route) == nullptr;
}

// A new node at the end of the route's channel, which holds such nodes or is new.
Matcher::Node& Matcher::append(const Route& route, Channel* channel, bool sends) {
  std::uint32_t index = free_;
  if (index != kNone) {
    free_ = nodes_[index].next;
  } else {
    if (nodes_.size() == kNone) throw Error("more than 4e9 messages are under way at once");
    index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[index].next = kNone;
  if (channel) {
    nodes_[channel->tail].next = index;
    channel->tail = index;
    return nodes_[index];
  }
  Inbox& inbox = inboxes_[static_cast<std::size_t>(route.destination.value)];
  // At most three quarters are in use, so that slot() always finds one.
  if ((inbox.used + 1) * 4 > inbox.channels.size() * 3) make_room(inbox);
  const std::uint64_t source_tag = source_tag_of(route);
  Channel& fresh = inbox.channels[slot(inbox, source_tag, route.comm)];
  fresh = {source_tag, route.comm, true, sends, index, index};
  ++inbox.used;
  return nodes_[index];
}

Matcher::Node Matcher::take_first(const Route& route, Channel& channel) {
  Inbox& inbox = inboxes_[static_cast<std::size_t>(route.destination.value)];
  const std::uint32_t index = channel.head;
  const Node node = nodes_[index];
  channel.head = node.next;
  nodes_[index].next = free_;
  free_ = index;
  if (channel.head == kNone) erase(inbox, channel);
  return node;
}

std::optional<PendingRecv> Matcher::send(const Route& route, const PendingSend& message) {
  Channel* const queue = find(route);
  if (queue && !queue->holds_sends) {
    const Node node = take_first(route, *queue);
    return PendingRecv{node.time, node.kind, node.request};
  }
  Node& node = append(route, queue, true);
  node.time = message.stamp.sent;
  node.bytes = message.stamp.bytes;
  node.rendezvous = message.stamp.rendezvous;
  node.untouched = message.stamp.untouched;
  node.mode = message.mode;
  node.request = message.request;
  node.order = message.order;
  node.flight = message.flight;
  node.payload = message.payload;
  node.through = message.through;
  node.stalled = message.stalled;
  return std::nullopt;
}

std::optional<PendingSend> Matcher::receive(const Route& route, const PendingRecv& receive) {
  Channel* const queue = find(route);
  if (queue && queue->holds_sends) return message(take_first(route, *queue));
  Node& node = append(route, queue, false);
  node.time = receive.entered;
  node.kind = receive.kind;
  node.request = receive.request;
  return std::nullopt;
}

std::optional<PendingSend> Matcher::first_message(const Route& route) const {
  const Channel* const queue = find(route);
  if (!queue || !queue->holds_sends) return std::nullopt;
  return message(nodes_[queue->head]);
}

std::optional<PendingSend> Matcher::take_message(const Route& route) {
  Channel* const queue = find(route);
  if (!queue || !queue->holds_sends) return std::nullopt;
  return message(take_first(route, *queue));
}

// The node of that number, wherever it is in the route's queue.
std::optional<Matcher::Node> Matcher::take(const Route& route, bool sends, std::uint64_t request) {
  Channel* const queue = find(route);
  if (!queue || queue->holds_sends != sends) return std::nullopt;
  std::uint32_t before = kNone;
  std::uint32_t at = queue->head;
  while (at != kNone && nodes_[at].request != request) before = std::exchange(at, nodes_[at].next);
  if (at == kNone) return std::nullopt;
  if (before == kNone) return take_first(route, *queue);
  const Node node = nodes_[at];
  nodes_[before].next = node.next;
  if (queue->tail == at) queue->tail = before;
  nodes_[at].next = free_;
  free_ = at;
  return node;
}

bool Matcher::withdraw(const Route& route, std::uint64_t request) {
  return take(route, false, request).has_value();
}

std::optional<PendingSend> Matcher::withdraw_message(const Route& route, std::uint64_t request) {
  const std::optional<Node> node = take(route, true, request);
  if (!node) return std::nullopt;
  return message(*node);
}

std::size_t Matcher::memory() const {
  std::size_t bytes = nodes_.capacity() * sizeof(Node) + inboxes_.capacity() * sizeof(Inbox);
  for (const Inbox& inbox : inboxes_) bytes += inbox.channels.capacity() * sizeof(Channel);
  return bytes;
}

}  // namespace foretrace::sim
