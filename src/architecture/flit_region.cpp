#include "architecture/flit_region.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "architecture/numbers.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {

using machine::LinkId;

namespace {

bool by_flits(const FlatEntity& entity) {
  return entity.level == "vc" || entity.level == "crossbar";
}

}  // namespace

bool takes_flits(const FlatArchitecture& architecture) {
  const FlatEntity* with = nullptr;
  const FlatEntity* without = nullptr;
  for (const FlatEntity& entity : architecture.entities)
    if (entity.is_switch()) (by_flits(entity) ? with : without) = &entity;
  if (with && without)
    throw Error(without->where.text() + ": '" + without->path + "' has the level " +
                without->level + ", '" + with->path + "' the level " + with->level +
                "; a program's messages need switches that all count flits (vc, crossbar), or "
                "none, for example --level '" +
                without->path + "=vc'");
  return with != nullptr;
}

FlitRegion::FlitRegion(const FlatArchitecture& architecture, const MessageGraph& graph,
                       double latency, double bandwidth, Owner owner)
    : architecture_(architecture),
      graph_(graph),
      fabric_(fabric_of(architecture, Terminals::links)),
      owner_(std::move(owner)) {
  refuse_speeds();
  scale(latency, bandwidth);
  network_ = std::make_unique<FlitNetwork>(fabric_.fabric, fabric_.cycle, 1);
  network_->listen(this);
  network_->watch(this);
  ways_ = std::make_unique<FabricRouter>(fabric_.fabric);
  find_links();
}

void FlitRegion::scale(double latency, double bandwidth) {
  fabric_.flit_bytes =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(fabric_.flit_bytes) * bandwidth));
  if (latency == 1) return;
  const auto slower = [&](int cycles) {
    return static_cast<int>(std::min(1e6, std::round(cycles * latency)));
  };
  for (auto& ports : fabric_.fabric.ports)
    for (Port& port : ports) {
      port.in.cycles = slower(port.in.cycles);
      port.out.cycles = slower(port.out.cycles);
    }
  for (SwitchSettings& settings : fabric_.fabric.settings)
    settings.crossbar_delay = slower(settings.crossbar_delay);
}

void FlitRegion::refuse_speeds() const {
  const double rate =
      static_cast<double>(fabric_.flit_bytes) / static_cast<double>(fabric_.cycle) * 1e12;
  const auto at_switch = [&](const FlatEnd& end) {
    return std::ranges::find(fabric_.router_entity, end.entity) != fabric_.router_entity.end();
  };
  for (const FlatLink& link : architecture_.links)
    if (link.speed.bytes_per_second && std::abs(*link.speed.bytes_per_second / rate - 1) > 1e-6 &&
        (at_switch(link.from) || at_switch(link.to)))
      throw Error(
          link.where.text() + ": the link has " + format_number(*link.speed.bytes_per_second) +
          " bytes a second, but its switches pass a flit of " + std::to_string(fabric_.flit_bytes) +
          " bytes in a cycle of " + std::to_string(fabric_.cycle) + " ps, " + format_number(rate) +
          " bytes a second; change the switches' 'flit' or 'cycle', or leave the "
          "bandwidth out");
}

void FlitRegion::find_links() {
  const machine::TopologyGraph& graph = graph_.topology->graph();
  std::vector<int> node(architecture_.entities.size(), -1);
  for (std::size_t n = 0; n < graph_.entity_of.size(); ++n)
    node[static_cast<std::size_t>(graph_.entity_of[n])] = static_cast<int>(n);
  router_.assign(graph_.entity_of.size(), -1);
  own_ = router_;
  const auto at_router = [&](int router) {
    return node[static_cast<std::size_t>(fabric_.router_entity[static_cast<std::size_t>(router)])];
  };
  const auto at_terminal = [&](int terminal) {
    return node[static_cast<std::size_t>(
        fabric_.terminal_entity[static_cast<std::size_t>(terminal)])];
  };
  const Fabric& fabric = fabric_.fabric;
  for (int r = 0; r < fabric.routers(); ++r) router_[static_cast<std::size_t>(at_router(r))] = r;
  const auto link = [&](int from, int to) { return from == to ? -1 : graph.find(from, to); };
  terminals_.resize(static_cast<std::size_t>(graph.links()));
  turns_.assign(terminals_.size(), 0);
  for (int t = 0; t < fabric.terminals(); ++t) {
    const auto number = static_cast<std::size_t>(t);
    const int outside = at_terminal(t);
    const std::int32_t in = link(outside, at_router(fabric.entries[number].router));
    const std::int32_t out = link(at_router(fabric.exits[number].router), outside);
    entry_.push_back(in);
    if (in < 0) own_[static_cast<std::size_t>(outside)] = t;
    if (in >= 0) terminals_[static_cast<std::size_t>(in)].push_back(t);
    if (out >= 0) terminals_[static_cast<std::size_t>(out)].push_back(t);
  }
  for (int r = 0; r < fabric.routers(); ++r) {
    auto& made = links_.emplace_back();
    for (const Port& port : fabric.ports[static_cast<std::size_t>(r)])
      made.push_back(port.out.router >= 0     ? link(at_router(r), at_router(port.out.router))
                     : port.out.terminal >= 0 ? link(at_router(r), at_terminal(port.out.terminal))
                                              : -1);
  }
}

bool FlitRegion::touches(std::int32_t link) const {
  const machine::TopologyGraph& graph = graph_.topology->graph();
  return holds(graph.from(link)) || holds(graph.to(link));
}

std::size_t FlitRegion::last_hop(const std::vector<sim::PacketHop>& route,
                                 std::size_t first) const {
  std::size_t last = first;
  while (last + 1 < route.size() && holds(graph_.topology->graph().to(route[last].link))) ++last;
  return last;
}

int FlitRegion::terminal(std::int32_t link, bool into, std::uint32_t turn) const {
  const machine::TopologyGraph& graph = graph_.topology->graph();
  const int inside = into ? graph.from(link) : graph.to(link);
  if (holds(inside)) return own_[static_cast<std::size_t>(inside)];
  const auto& terminals = terminals_[static_cast<std::size_t>(link)];
  return terminals[turn % terminals.size()];
}

void FlitRegion::enter(const Unit& unit, const std::vector<sim::PacketHop>& route,
                       std::size_t first, std::size_t last, std::uint64_t bytes,
                       std::int64_t time) {
  const auto size = static_cast<std::uint64_t>(fabric_.flit_bytes);
  const auto flits =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + size - 1) / size));
  const std::int64_t cycle = (time + fabric_.cycle - 1) / fabric_.cycle;
  const auto turn = [this](std::int32_t link) { return turns_[static_cast<std::size_t>(link)]++; };
  const std::int32_t in = route[first].link;
  const std::int32_t out = route[last].link;
  const int from = terminal(in, true, turn(in));
  const std::uint32_t packet =
      network_->inject(from, terminal(out, false, turn(out)), flits, cycle);
  if (packet >= units_.size()) units_.resize(packet + 1);
  units_[packet] = unit;
}

void FlitRegion::advance() {
  entity::Kernel& kernel = network_->kernel();
  const entity::Ps at = kernel.next();
  while (kernel.next() == at && at < entity::kNever) kernel.step();
  for (std::size_t r = 0; r < quantities_.size(); ++r) {
    const std::int64_t flits = network_->router(static_cast<int>(r)).occupancy().value();
    if (flits == told_[r]) continue;
    told_[r] = flits;
    recording_->changed(quantities_[r], at, static_cast<double>(flits));
  }
}

void FlitRegion::record_states(Recording& recording) {
  recording_ = &recording;
  for (const int entity : fabric_.router_entity)
    quantities_.push_back(recording.quantity(static_cast<std::uint32_t>(entity), "flits"));
  told_.assign(quantities_.size(), 0);
}

void FlitRegion::left(std::uint32_t packet, std::int64_t cycle) {
  const auto terminal = static_cast<std::size_t>(network_->packet(packet).from);
  const Place& place = fabric_.fabric.entries[terminal];
  const Port& port =
      fabric_.fabric
          .ports[static_cast<std::size_t>(place.router)][static_cast<std::size_t>(place.port)];
  carry(packet, entry_[terminal], cycle, port.in.cycles);
  owner_.left(units_[packet].number, Time::ps(cycle * fabric_.cycle));
}

void FlitRegion::passed(std::uint32_t packet, int router, int port) {
  const auto r = static_cast<std::size_t>(router);
  const auto p = static_cast<std::size_t>(port);
  carry(packet, links_[r][p], network_->now() + 1 + fabric_.fabric.settings[r].crossbar_delay,
        fabric_.fabric.ports[r][p].out.cycles);
}

// The last flit is on the link since cycle `begun`; those before it went in the cycles before, if
// nothing held them up.
void FlitRegion::carry(std::uint32_t packet, std::int32_t link, std::int64_t begun, int cycles) {
  if (link < 0) return;
  const Unit& unit = units_[packet];
  const auto flits = static_cast<std::int64_t>(network_->packet(packet).flits);
  const Bytes bytes(static_cast<std::uint64_t>(flits * fabric_.flit_bytes));
  const std::int64_t first = (begun + 1 - flits) * fabric_.cycle;
  const std::int64_t end = (begun + 1) * fabric_.cycle;
  const machine::TopologyGraph& graph = graph_.topology->graph();
  owner_.usage->carried(graph_.topology->carrier(LinkId(link)), bytes, Time::ps(first),
                        Time::ps(end), unit.first ? 1 : 0);
  owner_.record({MessageRecord::Kind::pass, static_cast<std::uint32_t>(unit.order),
                 graph.from(link), graph.to(link), bytes.count, first,
                 (begun + cycles) * fabric_.cycle});
}

void FlitRegion::arrived(std::uint32_t packet, std::int64_t cycle) {
  owner_.there(units_[packet].number, Time::ps(cycle * fabric_.cycle));
}

// Into its switch, through each, over each link.
Time FlitRegion::latency(const std::vector<sim::PacketHop>& route, std::size_t first,
                         std::size_t last) const {
  const Fabric& fabric = fabric_.fabric;
  const int from = terminal(route[first].link, true);
  const int to = terminal(route[last].link, false);
  const Place entry = fabric.entries[static_cast<std::size_t>(from)];
  int router = entry.router;
  std::int64_t cycles =
      1 + fabric.ports[static_cast<std::size_t>(router)][static_cast<std::size_t>(entry.port)]
              .in.cycles;
  WayState state;
  entity::Random random(1);
  while (router >= 0) {
    const auto r = static_cast<std::size_t>(router);
    const SwitchSettings& settings = fabric.settings[r];
    const Way way = ways_->way(router, to, state, random);
    const int port = way.ports ? std::countr_zero(way.ports) : way.escape;
    const Channel& out = fabric.ports[r][static_cast<std::size_t>(port)].out;
    const bool twice =
        settings.level == SwitchLevel::queued && settings.allocation == Allocation::sequential;
    cycles += 1 + (twice ? 1 : 0) + settings.crossbar_delay + out.cycles;
    router = out.router;
  }
  return Time::ps(cycles * fabric_.cycle);
}

std::size_t FlitRegion::memory() const {
  return network_->memory() + ways_->memory() + units_.capacity() * sizeof(Unit);
}

}  // namespace foretrace::architecture
