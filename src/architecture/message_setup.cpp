// MessageNetwork's nodes, links and media, as the architecture has them.
#include "architecture/message_network_impl.hpp"

namespace foretrace::architecture {

void MessageNetwork::Impl::make_flits() {
  FlitRegion::Owner owner;
  owner.usage = &usage_;
  owner.record = [this](const MessageRecord& one) { record(one); };
  owner.left = [this](std::uint32_t number, Time time) {
    left_source(unit(static_cast<std::int32_t>(number)), time.count_ps());
  };
  owner.there = [this](std::uint32_t number, Time time) {
    leave_region(static_cast<std::int32_t>(number), time.count_ps());
  };
  flits_ = std::make_unique<FlitRegion>(architecture_, graph_, options_.latency, options_.bandwidth,
                                        std::move(owner));
}

void MessageNetwork::Impl::make_nodes() {
  services_.resize(static_cast<std::size_t>(topology_.nodes()));
  whole_.assign(services_.size(), false);
  for (std::int32_t n = 0; n < topology_.nodes(); ++n) {
    nodes_.emplace_back(*this, n);
    const FlatEntity& one = entity_of(n);
    kernel_.add(nodes_.back(), one.path);
    whole_[static_cast<std::size_t>(n)] = one.level == "hops" || one.level == "message";
    Service& service = services_[static_cast<std::size_t>(n)];
    if (one.behaviour_name() == "nic") {
      service = {true,
                 one.parameters->number("injection"),
                 one.parameters->time("latency"),
                 0,
                 true,
                 -1,
                 one.parameters->text("rails") == "round-robin",
                 0};
    } else if (one.behaviour_name() == "memory" || one.behaviour_name() == "cache") {
      service = {true,
                 one.parameters->number("bandwidth"),
                 one.parameters->time("latency"),
                 0,
                 false,
                 -1,
                 false,
                 0};
    }
  }
  // A NIC's host is what is joined to its port of that name.
  std::vector<std::int32_t> node_of(architecture_.entities.size(), -1);
  for (std::int32_t n = 0; n < topology_.nodes(); ++n)
    node_of[static_cast<std::size_t>(graph_.entity_of[static_cast<std::size_t>(n)])] = n;
  for (const FlatLink& flat : architecture_.links) {
    for (const auto& [end, other] : {std::pair{flat.from, flat.to}, {flat.to, flat.from}}) {
      Service& service =
          services_[static_cast<std::size_t>(node_of[static_cast<std::size_t>(end.entity)])];
      if (service.host_side_only && end.port == 0)
        service.host = node_of[static_cast<std::size_t>(other.entity)];
    }
  }
}

void MessageNetwork::Impl::make_links(const machine::LinkSpeed& defaults) {
  const machine::TopologyGraph& graph = topology_.graph();
  links_.resize(static_cast<std::size_t>(graph.links()));
  std::vector<std::uint8_t> rings(links_.size(), 0);
  if (rule_ == CycleRule::bubble) rings = routing_.ring_directions();
  if (options_.buffer_packets < 2 && std::ranges::any_of(rings, [](int ring) { return ring != 0; }))
    throw UsageError("--buffer: expected 2 packets or more on a machine with rings, found 1");
  for (int l = 0; l < graph.links(); ++l) {
    Link& made = link(l);
    const machine::LinkSpeed& speed = topology_.speed(LinkId(l));
    made.from = graph.from(l);
    made.to = graph.to(l);
    made.latency = speed.latency.value_or(defaults.latency.value_or(Time())).count_ps();
    made.bytes_per_second = speed.bytes_per_second.value_or(
        defaults.bytes_per_second.value_or(std::numeric_limits<double>::infinity()));
    made.server = topology_.carrier(LinkId(l)).value;
    made.channels = graph_.parallel[static_cast<std::size_t>(l)];
    made.room = options_.buffer_packets;
    made.ring = rings[static_cast<std::size_t>(l)];
    // The sender's level; into a bus, the bus's.
    const bool into_bus = graph.kind(made.to) == NodeKind::bus;
    if (into_bus && entity_of(made.to).behaviour_name() == "bus") {
      const std::string arbiter = entity_of(made.to).parameters->text("arbiter");
      made.arbiter = arbiter == "fifo"       ? Arbiter::fifo
                     : arbiter == "priority" ? Arbiter::priority
                                             : Arbiter::round_robin;
    }
    made.flits = flits_ && flits_->touches(l);
    made.free = !made.flits && entity_of(into_bus ? made.to : made.from).level == "hops";
    const bool bus_whole = into_bus && entity_of(made.to).level == "message";
    made.unlimited =
        made.free || bus_whole || services_[static_cast<std::size_t>(made.to)].is_there ||
        (graph.kind(made.from) == NodeKind::bus && whole_[static_cast<std::size_t>(made.from)]);
  }
}

// A cache's memory is what is joined to its port of that name.
void MessageNetwork::Impl::make_caches() {
  const machine::TopologyGraph& graph = topology_.graph();
  std::vector<std::int32_t> node_of(architecture_.entities.size(), kNone);
  for (std::int32_t n = 0; n < topology_.nodes(); ++n)
    node_of[static_cast<std::size_t>(graph_.entity_of[static_cast<std::size_t>(n)])] = n;
  for (const FlatLink& flat : architecture_.links)
    for (const auto& [end, other] : {std::pair{flat.from, flat.to}, {flat.to, flat.from}}) {
      const FlatEntity& one = architecture_.entities[static_cast<std::size_t>(end.entity)];
      if (one.behaviour_name() != "cache" || end.port != kCacheMemory) continue;
      const std::int32_t node = node_of[static_cast<std::size_t>(end.entity)];
      const std::int32_t behind = node_of[static_cast<std::size_t>(other.entity)];
      Cache made;
      made.size = static_cast<std::uint64_t>(one.parameters->number("size"));
      made.into = graph.find(node, behind);
      made.back = graph.find(behind, node);
      if (made.into < 0 || made.back < 0)
        throw Error(flat.where.text() + ": the link between '" + one.path +
                    "' and its memory is one_way; what does not fit needs both ways");
      caches_.emplace(node, made);
    }
}

void MessageNetwork::Impl::make_quantities() {
  waiting_.assign(static_cast<std::size_t>(topology_.nodes()), 0);
  for (std::int32_t n = 0; n < topology_.nodes(); ++n) {
    const auto entity = static_cast<std::uint32_t>(graph_.entity_of[static_cast<std::size_t>(n)]);
    // Nothing waits in a switch that counts flits but these.
    const bool in_region = flits_ && flits_->holds(n);
    waiting_quantity_.push_back(in_region ? 0 : recording_->quantity(entity, "waiting"));
    if (const auto cache = caches_.find(n); cache != caches_.end())
      cache->second.quantity = recording_->quantity(entity, "held");
  }
  if (flits_) flits_->record_states(*recording_);
}

void MessageNetwork::Impl::make_media() {
  for (std::int32_t node = 0; node < topology_.nodes(); ++node)
    if (entity_of(node).collides()) make_medium(node);
}

// Every link into the medium is a station.
void MessageNetwork::Impl::make_medium(std::int32_t node) {
  const FlatEntity& entity = entity_of(node);
  const auto fail = [&entity](const std::string& what) {
    throw Error(entity.where.text() + ": '" + entity.path + "' " + what);
  };
  std::vector<std::int32_t> stations;
  std::vector<entity::Ps> distances;
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(links_.size()); ++l) {
    if (link(l).to != node) continue;
    stations.push_back(l);
    distances.push_back(link(l).latency);
    if (link(l).bytes_per_second != link(stations.front()).bytes_per_second)
      fail("has links of different bandwidths; all stations send at one rate");
  }
  if (stations.empty()) return;
  const double rate = link(stations.front()).bytes_per_second;
  if (!(rate < std::numeric_limits<double>::infinity()))
    fail("has links without a bandwidth; give them one, for example bandwidth = \"1.25MB/s\"");
  Ethernet& medium =
      media_.emplace_back(entity.path, ethernet_settings(*entity.parameters, rate),
                          std::move(distances), [this](std::uint64_t frame, entity::Ps began) {
                            through(static_cast<std::int32_t>(frame), began);
                          });
  kernel_.add(medium, entity.path);
  carriers_.emplace_back(link(stations.front()).server);
  for (std::size_t s = 0; s < stations.size(); ++s) {
    link(stations[s]).medium = &medium;
    link(stations[s]).station = static_cast<int>(s);
  }
}

}  // namespace foretrace::architecture
