#include "architecture/message_network.hpp"

#include "architecture/message_network_impl.hpp"

namespace foretrace::architecture {

std::vector<std::pair<LinkId, machine::Contention>> MessageNetwork::Impl::contention() const {
  std::vector<std::pair<LinkId, machine::Contention>> found;
  for (std::size_t m = 0; m < media_.size(); ++m)
    found.emplace_back(carriers_[m], media_[m].counts());
  return found;
}

void MessageNetwork::Impl::record(MessageRecord one) {
  if (!recording_) return;
  one.from = graph_.entity_of[static_cast<std::size_t>(one.from)];
  one.to = graph_.entity_of[static_cast<std::size_t>(one.to)];
  recording_->add(one);
}

void MessageNetwork::Impl::wait(std::int32_t node, int change) {
  if (!recording_) return;
  const auto at = static_cast<std::size_t>(node);
  waiting_[at] += change;
  recording_->changed(waiting_quantity_[at], now(), waiting_[at]);
}

void MessageNetwork::Impl::inject(sim::MessageId id, const sim::Way& way, Bytes bytes, Time time) {
  const NodeId from = way.from;
  const NodeId to = way.to;
  std::int32_t number = static_cast<std::int32_t>(messages_.size());
  if (free_messages_.empty()) {
    messages_.emplace_back();
  } else {
    number = free_messages_.back();
    free_messages_.pop_back();
    message(number) = Message();
  }
  Message& made = message(number);
  made.id = id;
  made.from = from.value;
  made.to = to.value;
  made.bytes = bytes.count;
  made.order = order_++;
  made.connection = way.connection;
  made.place = connections_[way.connection].entered++;
  if (!routing_.route(from, to, made.route))
    throw Error("architecture '" + architecture_.name + "' has no way from " +
                topology_.node_name(from) + " to " + topology_.node_name(to));
  choose_rails(made);
  bool packets = false;
  std::uint64_t most = options_.packet_size.count;
  for (const PacketHop& hop : made.route) {
    const Link& one = link(hop.link);
    made.all_free = made.all_free && one.free;
    packets = packets || !(one.free || takes_whole(one.to));
    if (one.medium) most = std::min(most, one.medium->payload());
  }
  made.size = packets ? most : std::max<std::uint64_t>(1, bytes.count);
  made.units =
      std::max<std::uint64_t>(1, bytes.count / made.size + (bytes.count % made.size != 0 ? 1 : 0));
  made.to_make = made.to_send = made.to_arrive = made.units;
  ++under_way_;
  const std::int64_t at_ps = time.count_ps();
  made.entered = at_ps;
  record({MessageRecord::Kind::enter, static_cast<std::uint32_t>(made.order), made.from, made.to,
          made.bytes, at_ps, at_ps});
  at(at_ps, made.from, Step::enter, number, kCome);
}

// Where a NIC has several links that are equally near, messages take them in turn.
void MessageNetwork::Impl::choose_rails(Message& made) {
  for (std::size_t h = 0; h < made.route.size(); ++h) {
    const std::int32_t nic = link(made.route[h].link).from;
    Service& service = services_[static_cast<std::size_t>(nic)];
    if (!service.turns) continue;
    const machine::TopologyGraph& graph = topology_.graph();
    const auto hops = topology_.hops(NodeId(nic), NodeId(made.to));
    std::vector<std::int32_t> rails;
    for (int l = graph.first(nic); l < graph.first(nic + 1); ++l) {
      const auto rest = topology_.hops(NodeId(graph.to(l)), NodeId(made.to));
      if (rest && hops && *rest + 1 == *hops) rails.push_back(l);
    }
    if (rails.size() < 2) continue;
    const std::int32_t rail = rails[service.turn++ % rails.size()];
    made.route.resize(h);
    made.route.push_back({rail, rail});
    std::vector<PacketHop> rest;
    if (link(rail).to != made.to) {
      routing_.route(NodeId(link(rail).to), NodeId(made.to), rest);
      made.route.insert(made.route.end(), rest.begin(), rest.end());
    }
  }
}

// What goes from one core to another and does not fit into a cache between them turns round behind
// it, where the next cache may have room.
void MessageNetwork::Impl::turn_in_caches(Message& made) {
  for (std::size_t h = 1; h < made.route.size(); ++h) {
    const std::int32_t node = link(made.route[h].link).from;
    const auto found = caches_.find(node);
    if (found == caches_.end()) continue;
    Cache& cache = found->second;
    const std::int32_t behind = link(cache.into).to;
    if (link(made.route[h - 1].link).from == behind || link(made.route[h].link).to == behind)
      continue;
    if (cache.held + made.bytes <= cache.size) {
      cache.held += made.bytes;
      made.held.push_back(node);
      if (recording_) recording_->changed(cache.quantity, now(), static_cast<double>(cache.held));
      continue;
    }
    const auto at = made.route.begin() + static_cast<std::ptrdiff_t>(h);
    made.route.insert(at, {PacketHop{cache.into, cache.into}, PacketHop{cache.back, cache.back}});
  }
}

void MessageNetwork::Impl::leave_caches(Message& made) {
  for (const std::int32_t node : made.held) {
    Cache& cache = caches_.find(node)->second;
    cache.held -= made.bytes;
    if (recording_) recording_->changed(cache.quantity, now(), static_cast<double>(cache.held));
  }
}

void MessageNetwork::Impl::handle(std::int32_t, Step step, std::int32_t data) {
  switch (step) {
    case Step::end:
      return end(data);
    case Step::come:
      return come(data);
    case Step::enter:
      return enter(data);
    case Step::own:
      return next_own(data);
    case Step::serve:
      wait(link(unit(data).way.link).from, -1);
      return go_on(data);
    case Step::start:
      return start(data);
  }
}

void MessageNetwork::Impl::enter(std::int32_t number) {
  if (!caches_.empty()) turn_in_caches(message(number));
  wait(message(number).from, 1);
  const std::int32_t first = message(number).route.front().link;
  Own& own = link(first).own;
  own.messages.push_back(number);
  if (!own.out || takes_whole(link(first).to)) next_own(first);
}

// The next unit of a source's queue for a link comes to the others.
void MessageNetwork::Impl::next_own(std::int32_t first) {
  Own& own = link(first).own;
  own.out = !own.messages.empty();
  if (!own.out) return;
  const std::int32_t number = own.messages.front();
  Message& from = message(number);
  std::int32_t made = static_cast<std::int32_t>(units_.size());
  if (free_units_.empty()) {
    units_.emplace_back();
  } else {
    made = free_units_.back();
    free_units_.pop_back();
    unit(made) = Unit();
  }
  Unit& one = unit(made);
  one.message = number;
  one.first = from.to_make == from.units;
  one.last = --from.to_make == 0;
  one.bytes = one.last ? from.bytes - (from.units - 1) * from.size : from.size;
  one.in = static_cast<std::int32_t>(links_.size()) + first;
  if (one.last) {
    own.messages.pop_front();
    wait(from.from, -1);
  }
  one.way = from.route.front();
  if (link(first).flits) {
    enter_region(made);
    at(now(), from.from, Step::own, first, kCome);
    return;
  }
  if (!link(first).free) {
    wait_for(made);
    if (takes_whole(link(first).to)) at(now(), from.from, Step::own, first, kCome);
    return;
  }
  // The source has sent when as much time has passed as the bytes need: on all links, where none of
  // them is ever busy.
  Sum per_byte;
  for (const PacketHop& hop : from.route)
    if (from.all_free || per_byte.times == 0) per_byte.add(1 / link(hop.link).bytes_per_second);
  const std::int64_t stream =
      Time::from_seconds(static_cast<double>(one.bytes) * per_byte.get()).count_ps();
  from.sent = std::max(from.sent, now() + stream);
  if (--from.to_send == 0) left_.push_back({from.order, from.id, from.sent, 0});
  pass_free(made);
  at(now(), from.from, Step::own, first, kCome);
}

// A unit is at the end of a link.
void MessageNetwork::Impl::come(std::int32_t number) {
  Unit& one = unit(number);
  one.in = one.way.buffer;
  ++one.hop;
  const Message& of = message(one.message);
  if (one.hop == static_cast<std::int32_t>(of.route.size())) return deliver(number);
  one.way = of.route[static_cast<std::size_t>(one.hop)];
  const std::int32_t node = link(one.way.link).from;
  Service& service = services_[static_cast<std::size_t>(node)];
  const bool served =
      service.is_there && (!service.host_side_only || link(one.in).from == service.host);
  if (!served) return go_on(number);
  service.free = std::max(service.free, now()) +
                 time_of(service.bytes_per_second, std::max<std::uint64_t>(1, one.bytes));
  wait(node, 1);
  at(service.free + service.latency, node, Step::serve, number, kCome);
}

void MessageNetwork::Impl::go_on(std::int32_t number) {
  if (link(unit(number).way.link).flits)
    enter_region(number);
  else if (link(unit(number).way.link).free)
    pass_free(number);
  else
    wait_for(number);
}

// Among the switches that count flits there are no hops one by one.
void MessageNetwork::Impl::enter_region(std::int32_t number) {
  Unit& one = unit(number);
  if (!is_own(one)) give_room(one);
  const Message& of = message(one.message);
  const auto first = static_cast<std::size_t>(one.hop);
  const std::size_t last = flits_->last_hop(of.route, first);
  one.hop = static_cast<std::int32_t>(last);
  one.since = -1;
  flits_->enter({static_cast<std::uint32_t>(number), of.order, one.first}, of.route, first, last,
                one.bytes, now());
}

void MessageNetwork::Impl::leave_region(std::int32_t number, std::int64_t time) {
  Unit& one = unit(number);
  one.way = message(one.message).route[static_cast<std::size_t>(one.hop)];
  at(time, link(one.way.buffer).to, Step::come, number, kCome);
}

// A link that is never busy. What a run of them takes is rounded once.
void MessageNetwork::Impl::pass_free(std::int32_t number) {
  Unit& one = unit(number);
  const Link& over = link(one.way.link);
  if (one.since < 0) {
    one.since = now();
    one.start_up = one.per_byte = Sum();
  }
  one.start_up.add(Time::ps(over.latency).seconds());
  one.per_byte.add(1 / over.bytes_per_second);
  const auto bytes = static_cast<double>(one.bytes);
  const std::int64_t stream = Time::from_seconds(bytes * one.per_byte.get()).count_ps();
  const std::int64_t there = one.since + Time::from_seconds(one.start_up.get()).count_ps() + stream;
  usage_.carried(LinkId(over.server), Bytes(one.bytes), Time::ps(now()), Time::ps(there),
                 one.first ? 1 : 0);
  record({MessageRecord::Kind::pass, static_cast<std::uint32_t>(message(one.message).order),
          over.from, link(one.way.buffer).to, one.bytes, now(), there});
  if (!is_own(one) && one.hop > 0) give_room(one);
  at(std::max(there, now()), link(one.way.buffer).to, Step::come, number, kCome);
}

void MessageNetwork::Impl::wait_for(std::int32_t number) {
  Unit& one = unit(number);
  one.since = -1;
  one.came = now();
  if (rule_ == CycleRule::bubble) {
    const std::uint8_t ring = link(one.way.link).ring;
    const bool goes_on = !is_own(one) && link(one.in).ring == ring;
    one.places = ring == 0 || goes_on ? 1 : 2;
  }
  const Link& over = link(one.way.link);
  wait(over.from, 1);
  if (over.medium)
    return over.medium->offer(kernel_, over.station, one.bytes, static_cast<std::uint64_t>(number));
  const std::int32_t server = over.server;
  auto& waiting = link(server).waiting;
  auto place = waiting.end();
  // At equal times by the node before, in the order of the description, what begins here last.
  while (place != waiting.begin() && unit(*(place - 1)).came == one.came &&
         comes_after(unit(*(place - 1)), one))
    --place;
  waiting.insert(place, number);
  touch(server);
}

bool MessageNetwork::Impl::comes_after(const Unit& one, const Unit& other) const {
  const auto key = [this](const Unit& of) {
    const bool own = is_own(of);
    const auto links = static_cast<std::int32_t>(links_.size());
    const auto from = static_cast<std::size_t>(link(own ? of.in - links : of.in).from);
    return std::tuple(own, graph_.entity_of[from], of.in);
  };
  return key(one) > key(other);
}

void MessageNetwork::Impl::touch(std::int32_t server) {
  const Link& queue = link(server);
  if (queue.sending < queue.channels && !queue.waiting.empty())
    at(now(), queue.from, Step::start, server, kStart);
}

bool MessageNetwork::Impl::has_room(const Unit& one) const {
  const Link& buffer = link(one.way.buffer);
  if (buffer.unlimited || link(one.way.link).unlimited) return true;
  if (rule_ != CycleRule::channels) return buffer.room >= one.places;
  const auto hop = static_cast<std::size_t>(one.hop);
  return hop >= buffer.used.size() || buffer.used[hop] < options_.buffer_packets;
}

void MessageNetwork::Impl::take_room(const Unit& one) {
  Link& buffer = link(one.way.buffer);
  if (rule_ != CycleRule::channels) {
    --buffer.room;
    return;
  }
  const auto hop = static_cast<std::size_t>(one.hop);
  if (hop >= buffer.used.size()) buffer.used.resize(hop + 1);
  ++buffer.used[hop];
}

// Gives back the place in which the unit lies.
void MessageNetwork::Impl::give_room(const Unit& one) {
  Link& buffer = link(one.in);
  const Link& before = link(message(one.message).route[static_cast<std::size_t>(one.hop) - 1].link);
  if (before.free || before.medium || before.flits) return;
  if (rule_ != CycleRule::channels)
    ++buffer.room;
  else
    --buffer.used[static_cast<std::size_t>(one.hop) - 1];
  touch(before.server);
}

// Of those that wait and have room where they go.
std::deque<std::int32_t>::iterator MessageNetwork::Impl::next_of(Link& queue) {
  const auto can_go = [this](std::int32_t number) { return has_room(unit(number)); };
  if (queue.arbiter == Arbiter::fifo) return std::ranges::find_if(queue.waiting, can_go);
  const auto after = [&](std::int32_t number) {
    const std::int32_t station = unit(number).way.link;
    if (queue.arbiter == Arbiter::priority) return station;
    const auto all = static_cast<std::int32_t>(links_.size());
    return (station - queue.turn - 1 + all) % all;
  };
  auto best = queue.waiting.end();
  for (auto at = queue.waiting.begin(); at != queue.waiting.end(); ++at)
    if (can_go(*at) && (best == queue.waiting.end() || after(*at) < after(*best))) best = at;
  if (best != queue.waiting.end()) queue.turn = unit(*best).way.link;
  return best;
}

void MessageNetwork::Impl::start(std::int32_t server) {
  Link& queue = link(server);
  while (queue.sending < queue.channels) {
    const auto found = next_of(queue);
    if (found == queue.waiting.end()) return;
    const std::int32_t number = *found;
    queue.waiting.erase(found);
    take_room(unit(number));
    begin(server, number);
  }
}

void MessageNetwork::Impl::begin(std::int32_t server, std::int32_t number) {
  Unit& one = unit(number);
  const Link& over = link(one.way.link);
  wait(over.from, -1);
  ++link(server).sending;
  // An empty message is a packet of one byte; a bus that takes messages whole needs no time for it.
  const std::uint64_t bytes =
      takes_whole(over.to) ? one.bytes : std::max<std::uint64_t>(1, one.bytes);
  const std::int64_t leaves = now() + time_of(over.bytes_per_second, bytes);
  Message& of = message(one.message);
  usage_.carried(LinkId(server), Bytes(bytes), Time::ps(now()), Time::ps(leaves),
                 one.first ? 1 : 0);
  record({MessageRecord::Kind::pass, static_cast<std::uint32_t>(of.order), over.from,
          link(one.way.buffer).to, one.bytes, now(), leaves + over.latency});
  at(leaves, over.from, Step::end, number, kLeave);
  left_source(one, leaves);
}

void MessageNetwork::Impl::left_source(const Unit& one, std::int64_t leaves) {
  if (!is_own(one)) return;
  Message& of = message(one.message);
  of.sent = std::max(of.sent, leaves);
  if (--of.to_send == 0) left_.push_back({of.order, of.id, of.sent, 0});
}

// A frame that has got through a medium of stations that collide.
void MessageNetwork::Impl::through(std::int32_t number, std::int64_t began) {
  const Unit& one = unit(number);
  const Link& over = link(one.way.link);
  const std::int64_t there = now() + over.latency + link(one.way.buffer).latency;
  const std::int32_t to = link(one.way.buffer).to;
  usage_.carried(LinkId(over.server), Bytes(one.bytes), Time::ps(began), Time::ps(now()),
                 one.first ? 1 : 0);
  record({MessageRecord::Kind::pass, static_cast<std::uint32_t>(message(one.message).order),
          over.from, to, one.bytes, began, there});
  wait(over.from, -1);
  left_source(one, now());
  if (is_own(one))
    at(now(), over.from, Step::own, one.way.link, kCome);
  else
    give_room(one);
  at(there, to, Step::come, number, kCome);
}

void MessageNetwork::Impl::end(std::int32_t number) {
  const Unit& one = unit(number);
  const std::int32_t server = link(one.way.link).server;
  --link(server).sending;
  touch(server);
  if (!is_own(one))
    give_room(one);
  else if (!takes_whole(link(one.way.link).to))
    at(now(), link(one.way.link).from, Step::own, one.way.link, kCome);
  at(now() + link(one.way.link).latency, link(one.way.buffer).to, Step::come, number, kCome);
}

void MessageNetwork::Impl::deliver(std::int32_t number) {
  const Unit& one = unit(number);
  give_room(one);
  Message& of = message(one.message);
  if (--of.to_arrive == 0) {
    record({MessageRecord::Kind::arrive, static_cast<std::uint32_t>(of.order), of.from, of.to,
            of.bytes, of.entered, now()});
    leave_caches(of);
    is_there(one.message);
    free_messages_.push_back(one.message);
  }
  free_units_.push_back(number);
}

void MessageNetwork::Impl::is_there(std::int32_t number) {
  const Message& of = message(number);
  --under_way_;
  Connection& connection = connections_.find(of.connection)->second;
  connection.early.push_back({of.place, {of.order, of.id, of.sent, now()}});
  while (true) {
    const auto next = std::ranges::find(connection.early, connection.arrived,
                                        &std::pair<std::uint64_t, Done>::first);
    if (next == connection.early.end()) return;
    done_.push_back(next->second);
    done_.back().arrived = now();
    connection.early.erase(next);
    ++connection.arrived;
  }
}

void MessageNetwork::Impl::advance(std::vector<sim::Arrival>& arrivals) {
  departures_.clear();
  const entity::Ps at = due();
  if (at >= entity::kNever) return;
  do {
    while (kernel_.next() == at) kernel_.step();
    if (flits_ && flits_->next() == at) flits_->advance();
  } while (due() == at);
  std::ranges::sort(done_, {}, &Done::order);
  for (const Done& done : done_)
    arrivals.push_back({done.id, Time::ps(done.sent), Time::ps(done.arrived)});
  done_.clear();
  std::ranges::sort(left_, {}, &Done::order);
  for (const Done& left : left_) departures_.push_back({left.id, Time::ps(left.sent)});
  left_.clear();
  if (due() >= entity::kNever && under_way_ > 0) stuck();
}

void MessageNetwork::Impl::stuck() const {
  if (flits_ && flits_->under_way() > 0)
    throw Error("architecture '" + architecture_.name + "': expected flits to go on, found " +
                std::to_string(flits_->under_way()) +
                " packets that wait for each other; choose another 'routing' of the switches");
  throw Error("architecture '" + architecture_.name + "': expected packets to go on, found " +
              std::to_string(under_way_) +
              " messages that wait for each other's buffers; take larger ones (--buffer)");
}

Time MessageNetwork::Impl::latency(NodeId from, NodeId to) const {
  if (!routing_.route(from, to, way_))
    throw Error("architecture '" + architecture_.name + "' has no way from " +
                topology_.node_name(from) + " to " + topology_.node_name(to));
  Time sum;
  Sum start_up;
  for (std::size_t h = 0; h < way_.size(); ++h) {
    const PacketHop& hop = way_[h];
    const Link& over = link(hop.link);
    const Service& service = services_[static_cast<std::size_t>(over.from)];
    if (h > 0 && service.is_there &&
        (!service.host_side_only || link(way_[h - 1].link).from == service.host))
      sum += Time::ps(service.latency + time_of(service.bytes_per_second, 1));
    if (over.flits) {
      const std::size_t last = flits_->last_hop(way_, h);
      sum += flits_->latency(way_, h, last);
      h = last;
      continue;
    }
    if (over.free) {
      start_up.add(Time::ps(over.latency).seconds());
      continue;
    }
    sum += Time::ps(over.latency);
    if (over.medium) {
      sum += Time::ps(link(hop.buffer).latency + over.medium->duration(1));
      continue;
    }
    if (!takes_whole(over.to)) sum += Time::ps(time_of(over.bytes_per_second, 1));
  }
  return sum + Time::from_seconds(start_up.get());
}

MessageNetwork::MessageNetwork(const FlatArchitecture& architecture, const MessageGraph& graph,
                               const machine::Topology& topology,
                               const machine::LinkSpeed& defaults, const MessageOptions& options,
                               Recording* recording)
    : impl_(std::make_unique<Impl>(architecture, graph, topology, defaults, options, recording)) {}
MessageNetwork::~MessageNetwork() = default;

void MessageNetwork::inject(sim::MessageId message, const sim::Way& way, Bytes bytes, Time time) {
  impl_->inject(message, way, bytes, time);
}
Time MessageNetwork::next() const {
  return impl_->next();
}
void MessageNetwork::advance(std::vector<sim::Arrival>& arrivals) {
  impl_->advance(arrivals);
}
std::span<const sim::Departure> MessageNetwork::departures() const {
  return impl_->departures_;
}
Time MessageNetwork::latency(NodeId from, NodeId to) const {
  return impl_->latency(from, to);
}
const sim::LinkUsage& MessageNetwork::usage() const {
  return impl_->usage_;
}
std::vector<std::pair<LinkId, machine::Contention>> MessageNetwork::contention() const {
  return impl_->contention();
}
std::size_t MessageNetwork::memory() const {
  return impl_->memory();
}
std::uint64_t MessageNetwork::events() const {
  return impl_->events();
}

}  // namespace foretrace::architecture
