#include "architecture/flit_messages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "architecture/numbers.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {

using machine::LinkId;
using machine::NodeId;

namespace {

bool is_switch(const FlatEntity& entity) {
  return entity.behaviour_name() == "switch" || entity.behaviour_name() == "omega-element";
}

bool by_flits(const FlatEntity& entity) {
  return entity.level == "vc" || entity.level == "crossbar";
}

}  // namespace

bool takes_flits(const FlatArchitecture& architecture) {
  const FlatEntity* with = nullptr;
  const FlatEntity* without = nullptr;
  for (const FlatEntity& entity : architecture.entities)
    if (is_switch(entity)) (by_flits(entity) ? with : without) = &entity;
  if (with && without)
    throw Error(without->where.text() + ": '" + without->path + "' has the level " +
                without->level + ", '" + with->path + "' the level " + with->level +
                "; a program's messages need switches that all count flits (vc, crossbar), or "
                "none, for example --level '" +
                without->path + "=vc'");
  return with != nullptr;
}

FlitMessages::FlitMessages(const FlatArchitecture& architecture, const MessageGraph& graph,
                           const FlitOptions& options, Recording* recording)
    : architecture_(architecture),
      graph_(graph),
      fabric_(fabric_of(architecture)),
      packet_size_(options.packet_size.count),
      recording_(recording) {
  if (packet_size_ < 1) throw UsageError("--packet-size: expected 1 byte or more, found 0");
  refuse_others();
  scale(options);
  network_ = std::make_unique<FlitNetwork>(fabric_.fabric, fabric_.cycle, 1);
  network_->listen(this);
  network_->watch(this);
  ways_ = std::make_unique<FabricRouter>(fabric_.fabric);
  find_links();
}

void FlitMessages::scale(const FlitOptions& options) {
  fabric_.flit_bytes = std::max<std::int64_t>(
      1, std::llround(static_cast<double>(fabric_.flit_bytes) * options.bandwidth));
  if (options.latency == 1) return;
  const auto slower = [&](int cycles) {
    return static_cast<int>(std::min(1e6, std::round(cycles * options.latency)));
  };
  for (auto& ports : fabric_.fabric.ports)
    for (Port& port : ports) {
      port.in.cycles = slower(port.in.cycles);
      port.out.cycles = slower(port.out.cycles);
    }
  for (SwitchSettings& settings : fabric_.fabric.settings)
    settings.crossbar_delay = slower(settings.crossbar_delay);
}

void FlitMessages::refuse_others() const {
  for (const FlatEntity& entity : architecture_.entities)
    if (!is_switch(entity) && entity.behaviour_name() != "processor")
      throw Error(entity.where.text() + ": '" + entity.path + "' is a " +
                  std::string(entity.behaviour_name()) +
                  ", which messages do not pass where switches count flits; give the switches the "
                  "level packet, or join the processors to them");
  const double rate =
      static_cast<double>(fabric_.flit_bytes) / static_cast<double>(fabric_.cycle) * 1e12;
  for (const FlatLink& link : architecture_.links)
    if (link.speed.bytes_per_second && std::abs(*link.speed.bytes_per_second / rate - 1) > 1e-6)
      throw Error(
          link.where.text() + ": the link has " + format_number(*link.speed.bytes_per_second) +
          " bytes a second, but its switches pass a flit of " + std::to_string(fabric_.flit_bytes) +
          " bytes in a cycle of " + std::to_string(fabric_.cycle) + " ps, " + format_number(rate) +
          " bytes a second; change the switches' 'flit' or 'cycle', or leave the "
          "bandwidth out");
}

void FlitMessages::find_links() {
  std::vector<int> node(architecture_.entities.size(), -1);
  for (std::size_t n = 0; n < graph_.entity_of.size(); ++n)
    node[static_cast<std::size_t>(graph_.entity_of[n])] = static_cast<int>(n);
  const auto at_router = [&](int router) {
    return node[static_cast<std::size_t>(fabric_.router_entity[static_cast<std::size_t>(router)])];
  };
  const auto at_terminal = [&](int terminal) {
    return node[static_cast<std::size_t>(
        fabric_.terminal_entity[static_cast<std::size_t>(terminal)])];
  };
  const auto link = [&](int from, int to) {
    return from == to ? -1 : graph_.topology->graph().find(from, to);
  };
  const Fabric& fabric = fabric_.fabric;
  for (int t = 0; t < fabric.terminals(); ++t)
    entry_.push_back(
        link(at_terminal(t), at_router(fabric.entries[static_cast<std::size_t>(t)].router)));
  for (int r = 0; r < fabric.routers(); ++r) {
    auto& made = links_.emplace_back();
    for (const Port& port : fabric.ports[static_cast<std::size_t>(r)])
      made.push_back(port.out.router >= 0     ? link(at_router(r), at_router(port.out.router))
                     : port.out.terminal >= 0 ? link(at_router(r), at_terminal(port.out.terminal))
                                              : -1);
  }
}

std::int64_t FlitMessages::flits_of(std::uint64_t bytes) const {
  const auto size = static_cast<std::uint64_t>(fabric_.flit_bytes);
  return static_cast<std::int64_t>(std::max<std::uint64_t>(1, (bytes + size - 1) / size));
}

void FlitMessages::inject(sim::MessageId id, const sim::Way& way, Bytes bytes, Time time) {
  auto number = static_cast<std::uint32_t>(messages_.size());
  if (free_.empty()) {
    messages_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  const std::uint64_t packets =
      std::max<std::uint64_t>(1, (bytes.count + packet_size_ - 1) / packet_size_);
  messages_[number] = {id, bytes.count, packets, packets, order_++, Time(), way.connection};
  under_way_[way.connection].push_back(number);
  // A flit waits for the beginning of a cycle.
  const std::int64_t cycle = (time.count_ps() + fabric_.cycle - 1) / fabric_.cycle;
  for (std::uint64_t p = 0; p < packets; ++p) {
    const std::uint64_t part = p + 1 < packets ? packet_size_ : bytes.count - p * packet_size_;
    const std::uint32_t packet =
        network_->inject(way.from.value, way.to.value, static_cast<std::uint32_t>(flits_of(part)),
                         cycle, number * 2 + (p == 0 ? 1 : 0));
    if (p == 0)
      record(MessageRecord::Kind::enter, packet, way.from.value, way.to.value, bytes.count,
             time.count_ps(), time.count_ps());
  }
}

Time FlitMessages::next() const {
  const entity::Ps at = network_->kernel().next();
  return at >= entity::kNever ? Time::max() : Time::ps(at);
}

void FlitMessages::advance(std::vector<sim::Arrival>& arrivals) {
  departures_.clear();
  entity::Kernel& kernel = network_->kernel();
  const entity::Ps at = kernel.next();
  if (at >= entity::kNever) return;
  while (kernel.next() == at) kernel.step();
  std::ranges::sort(done_, {}, &Done::order);
  for (const Done& done : done_) arrivals.push_back(done.arrival);
  done_.clear();
  std::ranges::sort(left_, {}, [](const auto& one) { return one.first; });
  for (const auto& [order, departure] : left_) departures_.push_back(departure);
  left_.clear();
  if (kernel.next() >= entity::kNever && network_->under_way() > 0)
    throw Error("architecture '" + architecture_.name + "': expected flits to go on, found " +
                std::to_string(network_->under_way()) +
                " packets that wait for each other; choose another 'routing' of the switches");
}

void FlitMessages::left(std::uint32_t packet, std::int64_t cycle) {
  const auto terminal = static_cast<std::size_t>(network_->packet(packet).from);
  const Place& place = fabric_.fabric.entries[terminal];
  const Port& port =
      fabric_.fabric
          .ports[static_cast<std::size_t>(place.router)][static_cast<std::size_t>(place.port)];
  carry(packet, entry_[terminal], cycle, port.in.cycles);
  Message& message = of(packet);
  message.sent = std::max(message.sent, Time::ps(cycle * fabric_.cycle));
  if (--message.to_leave == 0) left_.push_back({message.order, {message.id, message.sent}});
}

void FlitMessages::passed(std::uint32_t packet, int router, int port) {
  const auto r = static_cast<std::size_t>(router);
  const auto p = static_cast<std::size_t>(port);
  carry(packet, links_[r][p], network_->now() + 1 + fabric_.fabric.settings[r].crossbar_delay,
        fabric_.fabric.ports[r][p].out.cycles);
}

// The last flit is on the link since cycle `begun`; those before it went in the cycles before, if
// nothing held them up.
void FlitMessages::carry(std::uint32_t packet, std::int32_t link, std::int64_t begun, int cycles) {
  if (link < 0) return;
  const FlitPacket& moved = network_->packet(packet);
  const auto flits = static_cast<std::int64_t>(moved.flits);
  const Bytes bytes(static_cast<std::uint64_t>(flits * fabric_.flit_bytes));
  const std::int64_t first = (begun + 1 - flits) * fabric_.cycle;
  const std::int64_t end = (begun + 1) * fabric_.cycle;
  usage_.carried(graph_.topology->carrier(LinkId(link)), bytes, Time::ps(first), Time::ps(end),
                 moved.tag % 2);
  record(MessageRecord::Kind::pass, packet, graph_.topology->graph().from(link),
         graph_.topology->graph().to(link), bytes.count, first, (begun + cycles) * fabric_.cycle);
}

void FlitMessages::arrived(std::uint32_t packet, std::int64_t cycle) {
  const std::uint32_t number = network_->packet(packet).tag / 2;
  Message& message = messages_[number];
  if (--message.to_arrive > 0) return;
  const Time now = Time::ps(cycle * fabric_.cycle);
  record(MessageRecord::Kind::arrive, packet, network_->packet(packet).from,
         network_->packet(packet).to, message.bytes, now.count_ps(), now.count_ps());
  const auto found = under_way_.find(message.connection);
  std::deque<std::uint32_t>& before = found->second;
  for (; !before.empty() && messages_[before.front()].to_arrive == 0; before.pop_front()) {
    const Message& there = messages_[before.front()];
    done_.push_back({there.order, {there.id, there.sent, now}});
    free_.push_back(before.front());
  }
  if (before.empty()) under_way_.erase(found);
}

void FlitMessages::record(MessageRecord::Kind kind, std::uint32_t packet, int from, int to,
                          std::uint64_t bytes, std::int64_t begin, std::int64_t end) {
  if (!recording_) return;
  const auto entity = [&](int node) { return graph_.entity_of[static_cast<std::size_t>(node)]; };
  recording_->add({kind, static_cast<std::uint32_t>(of(packet).order), entity(from), entity(to),
                   bytes, begin, end});
}

// A flit alone: into its switch, through each, over each link.
Time FlitMessages::latency(NodeId from, NodeId to) const {
  const Fabric& fabric = fabric_.fabric;
  const Place entry = fabric.entries[static_cast<std::size_t>(from.value)];
  int router = entry.router;
  std::int64_t cycles =
      1 + fabric.ports[static_cast<std::size_t>(router)][static_cast<std::size_t>(entry.port)]
              .in.cycles;
  WayState state;
  entity::Random random(1);
  while (router >= 0) {
    const auto r = static_cast<std::size_t>(router);
    const SwitchSettings& settings = fabric.settings[r];
    const Way way = ways_->way(router, to.value, state, random);
    const int port = way.ports ? std::countr_zero(way.ports) : way.escape;
    const Channel& out = fabric.ports[r][static_cast<std::size_t>(port)].out;
    const bool twice =
        settings.level == SwitchLevel::queued && settings.allocation == Allocation::sequential;
    cycles += 1 + (twice ? 1 : 0) + settings.crossbar_delay + out.cycles;
    router = out.router;
  }
  return Time::ps(cycles * fabric_.cycle);
}

std::size_t FlitMessages::memory() const {
  return network_->memory() + ways_->memory() + messages_.capacity() * sizeof(Message) +
         usage_.memory();
}

}  // namespace foretrace::architecture
