#include "sim/network/packet.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace foretrace::sim {

using machine::LinkId;
using machine::NodeId;
using machine::NodeKind;

namespace {

// Of one message. Nobody waits for the end of more.
constexpr std::uint64_t kMostPackets = std::uint64_t{1} << 32;

// The number of a free element; a new one where none is free.
template <class T>
std::uint32_t take_slot(std::vector<T>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  all[slot] = T{};
  return slot;
}

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

}  // namespace

PacketNetwork::PacketNetwork(const machine::Topology& topology, const machine::LinkSpeed& defaults,
                             const PacketOptions& options)
    : topology_(&topology),
      routing_(topology, options.adaptive, options.avoid_deadlock),
      packet_size_(options.packet_size),
      buffer_packets_(options.buffer_packets),
      rule_(routing_.rule()),
      in_order_(rule_ == CycleRule::none && !topology.graph().has_bus()) {
  if (packet_size_.count < 1) throw UsageError("--packet-size: expected 1 byte or more, found 0");
  if (buffer_packets_ < 1)
    throw UsageError("--buffer: expected 1 packet or more, found " +
                     std::to_string(buffer_packets_));
  piece_packets_ = (options.piece.count + packet_size_.count - 1) / packet_size_.count;
  make_links(defaults);
}

void PacketNetwork::make_links(const machine::LinkSpeed& defaults) {
  const machine::TopologyGraph& graph = topology_->graph();
  links_.resize(static_cast<std::size_t>(graph.links()));
  if (rule_ == CycleRule::channels) used_.resize(links_.size());
  std::vector<std::uint8_t> rings(links_.size(), 0);
  if (rule_ == CycleRule::bubble) rings = routing_.ring_directions();
  if (buffer_packets_ < 2 && std::ranges::any_of(rings, [](int ring) { return ring != 0; }))
    throw UsageError(
        "--buffer: expected 2 packets or more on a topology with rings, found 1; a packet enters a "
        "ring only where two places are free");
  std::vector<std::int32_t> bus_server(static_cast<std::size_t>(graph.nodes()), -1);
  for (int l = 0; l < graph.links(); ++l) {
    Link& made = link(l);
    made.to = graph.to(l);
    made.room = buffer_packets_;
    made.ring = rings[static_cast<std::size_t>(l)];
    made.server = topology_->carrier(LinkId(l)).value;
    made.speed = graph.speed(l);
    if (graph.kind(made.to) == NodeKind::bus)
      bus_server[static_cast<std::size_t>(made.to)] = made.server;
    const auto number = static_cast<std::size_t>(made.speed);
    if (number >= speeds_.size()) speeds_.resize(number + 1);
    const machine::LinkSpeed& given = topology_->speed(LinkId(l));
    Speed& speed = speeds_[number];
    speed.latency = given.latency.value_or(defaults.latency.value_or(Time())).count_ps();
    speed.bytes_per_second = given.bytes_per_second.value_or(
        defaults.bytes_per_second.value_or(std::numeric_limits<double>::infinity()));
    speed.full_packet = time_of(made.speed, packet_size_.count);
    speed.burst = time_of(made.speed, given.burst.value_or(defaults.burst.value_or(0)));
  }
  // Room behind a bus is what those wait for who want to enter it.
  for (int l = 0; l < graph.links(); ++l)
    if (graph.kind(graph.from(l)) == NodeKind::bus)
      link(l).server = bus_server[static_cast<std::size_t>(graph.from(l))];
}

std::int64_t PacketNetwork::time_of(std::int32_t speed, std::uint64_t bytes) const {
  const double rate = speeds_[static_cast<std::size_t>(speed)].bytes_per_second;
  return Time::from_seconds(static_cast<double>(bytes) / rate).count_ps();
}

std::int64_t PacketNetwork::time_on(std::int32_t speed, const Packet& packet) {
  if (!packet.is_last) return speeds_[static_cast<std::size_t>(speed)].full_packet;
  Message& message = messages_[packet.message];
  if (message.last_speed != speed) {
    message.last_speed = speed;
    message.last_time = time_of(speed, message.last_bytes);
  }
  return message.last_time;
}

void PacketNetwork::no_way(NodeId from, NodeId to) const {
  throw Error("topology '" + topology_->name() + "' has no way from " + topology_->node_name(from) +
              " to " + topology_->node_name(to));
}

void PacketNetwork::inject(MessageId message, const Way& way, Bytes bytes, Time time) {
  const NodeId from = way.from, to = way.to;
  assert(from != to && "a message goes to another processor");
  const std::int64_t at = time.count_ps();
  if (at < now_ || (entered_ < entering_.size() && at < messages_[entering_.back()].entered))
    throw Error("packet network: expected messages to enter in the order of time, found one at " +
                std::to_string(at) + " ps, after " + std::to_string(now_) + " ps");
  if (packets_of(bytes.count + topology_->header()) > kMostPackets)
    throw Error("packet network: expected at most " + std::to_string(kMostPackets) +
                " packets a message, found one of " + std::to_string(bytes.count) + " bytes from " +
                topology_->node_name(from) + " to " + topology_->node_name(to) +
                "; take larger packets (--packet-size)");
  const std::uint32_t slot = take_slot(messages_, free_messages_);
  Message& made = messages_[slot];
  made.id = message;
  made.from = from.value;
  made.to = to.value;
  made.in_pieces = way.in_pieces;
  made.connection = way.connection;
  made.bytes = bytes.count;
  made.entered = at;
  made.order = injected_++;
  if (!routing_.adaptive())
    store_route(slot);
  else if (!topology_->hops(from, to))
    no_way(from, to);
  if (entered_ == entering_.size()) {
    entering_.clear();
    entered_ = 0;
  }
  entering_.push_back(slot);
  ++under_way_;
  next_ = std::min(next_, at);
}

void PacketNetwork::store_route(std::uint32_t message) {
  const NodeId from(messages_[message].from);
  const NodeId to(messages_[message].to);
  if (!routing_.route(from, to, steps_)) no_way(from, to);
  steps_.emplace_back();
  if (steps_.size() > route_stride_) {
    const std::size_t stride = std::max(steps_.size(), 2 * route_stride_);
    std::vector<PacketHop> wider(messages_.size() * stride);
    for (std::size_t i = 0; i < routes_.size(); ++i)
      wider[i / route_stride_ * stride + i % route_stride_] = routes_[i];
    routes_.swap(wider);
    route_stride_ = stride;
  }
  if (routes_.size() < messages_.size() * route_stride_)
    routes_.resize(messages_.size() * route_stride_);
  std::ranges::copy(steps_, &route_at(message, 0));
}

void PacketNetwork::advance(std::vector<Arrival>& arrivals) {
  departures_.clear();
  if (next_ == PacketEvents::kNever) return;
  now_ = next_;
  do {
    ends_.take(
        now_, [this](std::uint32_t number) { end_sending(number); },
        [this](std::uint32_t number) { look_ahead(links_[number].sending); });
    take_arrivals();
    for (const std::uint32_t number : own_due_) next_own(number);
    own_due_.clear();
    while (entered_ < entering_.size() && messages_[entering_[entered_]].entered == now_)
      enter(entering_[entered_++]);
    for (const std::uint32_t number : touched_) start(number);
    touched_.clear();
    find_next();
  } while (next_ == now_);
  report(arrivals);
  if (next_ == PacketEvents::kNever && under_way_ > 0) stuck();
}

void PacketNetwork::find_next() {
  next_ = std::min(ends_.next(), arrivals_.next());
  if (entered_ < entering_.size()) next_ = std::min(next_, messages_[entering_[entered_]].entered);
}

void PacketNetwork::touch(std::int32_t server) {
  const Link& queue = link(server);
  if (queue.sending == kNone && queue.first != kNone)
    touched_.push_back(static_cast<std::uint32_t>(server));
}

// Of a packet that something happens to soon: what that will want.
void PacketNetwork::look_ahead(std::uint32_t number) const {
  const Packet& packet = packets_[number];
  if (!is_own(packet)) __builtin_prefetch(&links_[packet.in]);
  __builtin_prefetch(&messages_[packet.message]);
  if (!routing_.adaptive())
    __builtin_prefetch(&routes_[packet.message * route_stride_ + packet.hop + 1]);
}

void PacketNetwork::end_sending(std::uint32_t number) {
  Link& queue = links_[number];
  const std::uint32_t sent = queue.sending;
  queue.sending = kNone;
  if (queue.first != kNone) touched_.push_back(number);
  const Packet& packet = packets_[sent];
  if (is_own(packet))
    own_due_.push_back(static_cast<std::uint32_t>(packet.way.link));
  else
    give_room(packet);
  const auto speed = static_cast<std::size_t>(link(packet.way.link).speed);
  arrivals_.push(now_, speeds_[speed].latency, sent);
}

void PacketNetwork::take_arrivals() {
  if (!routing_.adaptive()) {
    arrivals_.take(
        now_, [this](std::uint32_t packet) { arrive(packet); },
        [this](std::uint32_t packet) { look_ahead(packet); });
    return;
  }
  // Who comes first chooses first.
  arrivals_.take(
      now_, [this](std::uint32_t packet) { coming_.push_back(packet); },
      [this](std::uint32_t packet) { look_ahead(packet); });
  std::ranges::stable_sort(coming_, {},
                           [this](std::uint32_t packet) { return packets_[packet].way.buffer; });
  for (const std::uint32_t packet : coming_) arrive(packet);
  coming_.clear();
}

void PacketNetwork::arrive(std::uint32_t number) {
  Packet& packet = packets_[number];
  packet.in = static_cast<std::uint32_t>(packet.way.buffer);
  ++packet.hop;
  if (!routing_.adaptive()) {
    const PacketHop way = route_at(packet.message, packet.hop);
    if (way.link < 0) return deliver(number);
    return wait_for(number, way);
  }
  const std::int32_t node = links_[packet.in].to;
  const std::int32_t to = messages_[packet.message].to;
  if (node == to) return deliver(number);
  routing_.closer(NodeId(node), NodeId(to), steps_);
  wait_for(number, least_loaded());
}

void PacketNetwork::deliver(std::uint32_t number) {
  const Packet& packet = packets_[number];
  give_room(packet);
  Message& message = messages_[packet.message];
  if (--message.to_arrive == 0) {
    finished_.push_back({message.order, message.id, message.sent});
    free_messages_.push_back(packet.message);
    --under_way_;
  }
  free_packets_.push_back(number);
}

std::uint64_t PacketNetwork::packets_of(std::uint64_t bytes) const {
  const std::uint64_t size = packet_size_.count;
  return std::max<std::uint64_t>(1, bytes / size + (bytes % size != 0 ? 1 : 0));
}

// What goes behind others of its connection is in one stream of bytes with them.
std::uint64_t PacketNetwork::header_of(std::uint64_t connection) {
  if (topology_->header() == 0) return 0;
  Connection& on = connections_[connection];
  return on.to_send++ > 0 || now_ < on.busy_until ? 0 : topology_->header();
}

void PacketNetwork::enter(std::uint32_t message) {
  Message& made = messages_[message];
  const std::uint64_t bytes = made.bytes + header_of(made.connection);
  made.packets = made.to_send = made.to_arrive = packets_of(bytes);
  made.last_bytes = std::max<std::uint64_t>(1, bytes - (made.packets - 1) * packet_size_.count);
  if (routing_.adaptive()) return spread(message);
  add_part(message, route_at(message, 0), messages_[message].packets, true, true);
}

// Adaptive: each packet of a message chooses its first link, one after the
// other, as packets at a switch do.
void PacketNetwork::spread(std::uint32_t message) {
  const Message& sent = messages_[message];
  routing_.closer(NodeId(sent.from), NodeId(sent.to), steps_);
  const std::uint64_t packets = sent.packets;
  if (steps_.size() == 1) return add_part(message, steps_[0], packets, true, true);
  struct Share {
    PacketHop way;
    std::uint64_t load = 0;
    std::uint64_t packets = 0;
  };
  std::vector<Share> shares;
  for (const PacketHop& way : steps_) shares.push_back({way, load(way.link), 0});
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::uint64_t i = 0; i < packets; ++i) {
    last = static_cast<std::size_t>(std::ranges::min_element(shares, {}, &Share::load) -
                                    shares.begin());
    if (i == 0) first = last;
    ++shares[last].load;
    ++shares[last].packets;
  }
  for (std::size_t s = 0; s < shares.size(); ++s)
    if (shares[s].packets > 0)
      add_part(message, shares[s].way, shares[s].packets, s == first, s == last);
}

std::uint64_t PacketNetwork::load(std::int32_t number) const {
  const Link& queue = link(link(number).server);
  return queue.waiting + (queue.sending != kNone ? 1 : 0) + link(number).own_packets;
}

PacketHop PacketNetwork::least_loaded() const {
  assert(!steps_.empty() && "the destination can be reached from every node on the way");
  if (steps_.size() == 1) return steps_[0];
  return *std::ranges::min_element(steps_, {},
                                   [this](const PacketHop& way) { return load(way.link); });
}

void PacketNetwork::add_part(std::uint32_t message, PacketHop way, std::uint64_t packets,
                             bool has_first, bool has_last) {
  const std::uint32_t slot = take_slot(parts_, free_parts_);
  const std::uint64_t piece = messages_[message].in_pieces ? piece_packets_ : 0;
  parts_[slot] = {message, kNone, way.buffer, has_first, has_last, packets, piece};
  Link& own = link(way.link);
  own.own_packets += packets;
  put_last(own, slot);
  if (!own.own_out) next_own(static_cast<std::uint32_t>(way.link));
}

void PacketNetwork::put_last(Link& own, std::uint32_t part) {
  parts_[part].next = kNone;
  (own.own_first == kNone ? own.own_first : parts_[own.own_last].next) = part;
  own.own_last = part;
}

// The next packet of a source's queue for a link comes to the others.
void PacketNetwork::next_own(std::uint32_t number) {
  Link& own = links_[number];
  own.own_out = own.own_first != kNone;
  if (!own.own_out) return;
  const std::uint32_t made = take_slot(packets_, free_packets_);
  Packet& packet = packets_[made];
  Part& part = parts_[own.own_first];
  packet.message = part.message;
  packet.in = static_cast<std::uint32_t>(links_.size()) + number;
  packet.is_first = part.has_first;
  part.has_first = false;
  const PacketHop way{static_cast<std::int32_t>(number), part.buffer};
  --own.own_packets;
  if (--part.packets == 0) {
    packet.is_last = part.has_last;
    free_parts_.push_back(own.own_first);
    own.own_first = part.next;
  } else if (part.piece > 0 && --part.piece == 0) {
    part.piece = piece_packets_;
    const std::uint32_t rest = own.own_first;
    own.own_first = part.next;
    put_last(own, rest);
  }
  wait_for(made, way);
}

void PacketNetwork::wait_for(std::uint32_t number, PacketHop way) {
  Packet& packet = packets_[number];
  packet.way = way;
  packet.came = now_;
  if (rule_ == CycleRule::bubble) {
    const std::uint8_t ring = link(way.link).ring;
    const bool goes_on = !is_own(packet) && links_[packet.in].ring == ring;
    packet.places = ring == 0 || goes_on ? 1 : 2;
  }
  enqueue(number);
}

// In the order of coming: by time, then input link. Only those that came at
// the same time are passed on the way from the end.
void PacketNetwork::enqueue(std::uint32_t number) {
  Packet& packet = packets_[number];
  const std::int32_t server = link(packet.way.link).server;
  Link& queue = link(server);
  std::uint32_t before = queue.last;
  std::uint32_t next = kNone;
  while (before != kNone && packets_[before].came == packet.came &&
         packets_[before].in > packet.in) {
    next = before;
    before = packets_[before].before;
  }
  packet.before = before;
  packet.next = next;
  (before == kNone ? queue.first : packets_[before].next) = number;
  (next == kNone ? queue.last : packets_[next].before) = number;
  ++queue.waiting;
  if (queue.sending == kNone) touched_.push_back(static_cast<std::uint32_t>(server));
}

void PacketNetwork::unlink(Link& queue, std::uint32_t number) {
  const Packet& packet = packets_[number];
  (packet.before == kNone ? queue.first : packets_[packet.before].next) = packet.next;
  (packet.next == kNone ? queue.last : packets_[packet.next].before) = packet.before;
  --queue.waiting;
}

bool PacketNetwork::has_room(const Packet& packet) const {
  if (rule_ != CycleRule::channels) return link(packet.way.buffer).room >= packet.places;
  const auto& used = used_[static_cast<std::size_t>(packet.way.buffer)];
  return packet.hop >= used.size() || used[packet.hop] < buffer_packets_;
}

void PacketNetwork::take_room(const Packet& packet) {
  if (rule_ != CycleRule::channels) {
    --link(packet.way.buffer).room;
    return;
  }
  auto& used = used_[static_cast<std::size_t>(packet.way.buffer)];
  if (packet.hop >= used.size()) used.resize(packet.hop + 1);
  ++used[packet.hop];
}

// Gives back the place in which the packet lies.
void PacketNetwork::give_room(const Packet& packet) {
  Link& buffer = links_[packet.in];
  if (rule_ != CycleRule::channels)
    ++buffer.room;
  else
    --used_[packet.in][packet.hop - 1];
  touch(buffer.server);
}

std::uint32_t PacketNetwork::startable(const Link& queue) const {
  for (std::uint32_t number = queue.first; number != kNone; number = packets_[number].next) {
    if (has_room(packets_[number])) return number;
    if (in_order_) break;
  }
  return kNone;
}

void PacketNetwork::start(std::uint32_t number) {
  Link& queue = links_[number];
  if (queue.sending != kNone) return;
  const std::uint32_t packet = startable(queue);
  if (packet == kNone) return;
  unlink(queue, packet);
  take_room(packets_[packet]);
  queue.sending = packet;
  begin_sending(number, packet);
}

void PacketNetwork::begin_sending(std::uint32_t number, std::uint32_t started) {
  const Packet& packet = packets_[started];
  const std::int32_t speed = link(packet.way.link).speed;
  std::int64_t time = time_on(speed, packet);
  if (const std::int64_t burst = speeds_[static_cast<std::size_t>(speed)].burst; burst > 0) {
    std::int64_t& full_at = links_[number].full_at;
    full_at = std::max(full_at, now_) + time;
    time = std::max<std::int64_t>(0, full_at - burst - now_);
  }
  ends_.push(now_, time, number);
  const std::int64_t end = now_ + time;
  ++packet_hops_;
  Message& message = messages_[packet.message];
  usage_.carried(LinkId(static_cast<std::int32_t>(number)),
                 Bytes(packet.is_last ? message.last_bytes : packet_size_.count), Time::ps(now_),
                 Time::ps(end), packet.is_first ? 1 : 0);
  if (!is_own(packet)) return;
  message.sent = std::max(message.sent, end);
  if (--message.to_send > 0) return;
  leaving_.push_back({message.order, message.id, message.sent});
  if (topology_->header() == 0) return;
  Connection& on = connections_[message.connection];
  --on.to_send;
  on.busy_until = std::max(on.busy_until, message.sent);
}

void PacketNetwork::report(std::vector<Arrival>& arrivals) {
  std::ranges::sort(finished_, {}, &Finished::order);
  for (const Finished& message : finished_)
    arrivals.push_back({message.id, Time::ps(message.sent), Time::ps(now_)});
  finished_.clear();
  std::ranges::sort(leaving_, {}, &Finished::order);
  for (const Finished& message : leaving_)
    departures_.push_back({message.id, Time::ps(message.sent)});
  leaving_.clear();
}

void PacketNetwork::stuck() const {
  std::string where;
  for (const Link& queue : links_) {
    if (queue.first == kNone) continue;
    const Packet& packet = packets_[queue.first];
    const Message& message = messages_[packet.message];
    const LinkId wanted(packet.way.link);
    const auto name = [this](NodeId node) { return topology_->node_name(node); };
    where = "a packet from " + name(NodeId(message.from)) + " to " + name(NodeId(message.to)) +
            " waits at " + name(topology_->from(wanted)) + " for room at " +
            name(topology_->to(LinkId(packet.way.buffer)));
    break;
  }
  throw Error("packet network: expected packets to go on, found " + std::to_string(under_way_) +
              " messages that wait for each other's buffers (" + where +
              "); do with larger buffers (--buffer) or another topology");
}

Time PacketNetwork::latency(NodeId from, NodeId to) const {
  if (!routing_.route(from, to, steps_)) no_way(from, to);
  Time sum;
  for (const PacketHop& way : steps_) {
    const std::int32_t speed = link(way.link).speed;
    const Speed& of = speeds_[static_cast<std::size_t>(speed)];
    sum += Time::ps(of.latency + std::max<std::int64_t>(0, time_of(speed, 1) - of.burst));
  }
  return sum;
}

std::size_t PacketNetwork::memory() const {
  std::size_t bytes =
      bytes_of(speeds_) + bytes_of(links_) + bytes_of(packets_) + bytes_of(parts_) +
      bytes_of(messages_) + bytes_of(routes_) + bytes_of(free_packets_) + bytes_of(free_parts_) +
      bytes_of(free_messages_) + bytes_of(entering_) + bytes_of(own_due_) + bytes_of(touched_) +
      bytes_of(coming_) + bytes_of(finished_) + bytes_of(leaving_) + bytes_of(departures_) +
      bytes_of(used_) + connections_.size() * (sizeof(Connection) + 4 * sizeof(std::uint64_t));
  for (const auto& used : used_) bytes += bytes_of(used);
  return bytes + ends_.memory() + arrivals_.memory() + routing_.memory() + usage_.memory();
}

}  // namespace foretrace::sim
