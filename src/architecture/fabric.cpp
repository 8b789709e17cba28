#include "architecture/fabric.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.hpp"
#include "topology/builders.hpp"

namespace foretrace::architecture {
namespace {

constexpr std::uint16_t kFar = UINT16_MAX;

void refuse_ports(const std::vector<Port>& ports, const std::string& name) {
  if (ports.size() > kMaxSwitchPorts)
    throw Error(name + ": expected at most " + std::to_string(kMaxSwitchPorts) +
                " ports at a switch that is simulated flit by flit, found " +
                std::to_string(ports.size()) + "; make it of smaller switches");
}

std::string name_of(const Fabric& fabric, int router) {
  const auto number = static_cast<std::size_t>(router);
  return number < fabric.names.size() ? fabric.names[number] : "router " + std::to_string(router);
}

// The grid's sides, that which changes fastest along the numbers first.
std::vector<int> sides_of(const machine::Shape& shape) {
  if (!machine::is_grid(shape)) return {};
  std::vector<int> sides = machine::grid_sides(shape);
  std::ranges::reverse(sides);
  return sides;
}

// The dimensions of a grid in which a router and the destination's differ, the first one first.
class OpenDimensions {
 public:
  OpenDimensions(const Fabric& fabric, int router, int to_router)
      : sides_(fabric.sides), router_(router), to_router_(to_router) {
    find();
  }
  explicit operator bool() const { return dimension_ < sides_.size(); }
  void next() {
    stride_ *= side();
    ++dimension_;
    find();
  }
  std::size_t dimension() const { return dimension_; }
  int side() const { return sides_[dimension_]; }
  int here() const { return router_ / stride_ % side(); }
  int there() const { return to_router_ / stride_ % side(); }
  // Steps to go upwards, round the end where it is a ring.
  int up() const { return (there() - here() + side()) % side(); }
  // Of the router's ports in this dimension, in up_ and down_.
  std::size_t at() const { return static_cast<std::size_t>(router_) * sides_.size() + dimension_; }

 private:
  void find() {
    for (; dimension_ < sides_.size() && here() == there(); ++dimension_) stride_ *= side();
  }

  const std::vector<int>& sides_;
  int router_;
  int to_router_;
  int stride_ = 1;
  std::size_t dimension_ = 0;
};

}  // namespace

void Fabric::link_routers(int a, int b, int cycles, bool one_way) {
  auto& at_a = ports[static_cast<std::size_t>(a)];
  auto& at_b = ports[static_cast<std::size_t>(b)];
  const Channel to_b{b, -1, static_cast<std::int32_t>(at_b.size() + (a == b ? 1 : 0)), cycles};
  const Channel to_a{a, -1, static_cast<std::int32_t>(at_a.size()), cycles};
  at_a.push_back({to_b, one_way ? Channel() : to_b});
  at_b.push_back({one_way ? Channel() : to_a, to_a});
}

void Fabric::link_terminal(int terminal, int to_router, int from_router, int cycles) {
  const auto number = static_cast<std::size_t>(terminal);
  const Channel channel{-1, terminal, 0, cycles};
  const auto attach = [&](int router, bool in, bool out) -> Place {
    auto& all = ports[static_cast<std::size_t>(router)];
    all.push_back({out ? channel : Channel(), in ? channel : Channel()});
    return {router, static_cast<std::int32_t>(all.size() - 1)};
  };
  if (to_router >= 0) entries[number] = attach(to_router, true, to_router == from_router);
  if (to_router >= 0 && to_router == from_router)
    exits[number] = entries[number];
  else if (from_router >= 0)
    exits[number] = attach(from_router, false, true);
}

Fabric make_fabric(const machine::Topology& topology, const SwitchSettings& settings) {
  const machine::TopologyGraph& graph = topology.graph();
  if (graph.has_bus())
    throw UsageError(topology.name() + ": a bus has no switches to be simulated by flits");
  // Processors that have switches between them are terminals; else each is a terminal
  // with a router of its own.
  const bool direct = graph.nodes() == graph.processors();
  const int first = direct ? 0 : graph.processors();
  Fabric fabric;
  fabric.ports.resize(static_cast<std::size_t>(graph.nodes() - first));
  fabric.settings.assign(fabric.ports.size(), settings);
  fabric.sides = sides_of(topology.shape());
  fabric.wraps = machine::is_grid(topology.shape()) && machine::grid_wraps(topology.shape());
  fabric.entries.resize(static_cast<std::size_t>(graph.processors()));
  fabric.exits.resize(fabric.entries.size());
  for (int link = 0; link < graph.links(); ++link) {
    const int a = graph.from(link);
    const int b = graph.to(link);
    const bool back = graph.find(b, a) >= 0;
    if (back && a > b) continue;
    if (a < first)
      fabric.link_terminal(a, b - first, back ? b - first : -1, 1);
    else if (b < first)
      fabric.link_terminal(b, -1, a - first, 1);
    else
      fabric.link_routers(a - first, b - first, 1, !back);
  }
  if (direct)
    for (int node = 0; node < graph.nodes(); ++node) fabric.link_terminal(node, node, node, 1);
  for (int router = 0; router < fabric.routers(); ++router)
    refuse_ports(fabric.ports[static_cast<std::size_t>(router)], name_of(fabric, router));
  return fabric;
}

Fabric make_fabric(std::string_view expression, const SwitchSettings& settings) {
  return make_fabric(machine::build_topology(machine::parse_topology_expression(expression)),
                     settings);
}

FabricRouter::FabricRouter(const Fabric& fabric) : fabric_(&fabric) {
  for (const SwitchSettings& settings : fabric.settings) {
    const bool grid = settings.routing == Routing::dimension_order ||
                      (settings.routing == Routing::adaptive && !fabric.sides.empty());
    any_grid_ |= grid;
    any_table_ |= !grid && settings.routing != Routing::up_down;
    any_up_down_ |= settings.routing == Routing::up_down;
  }
  for (int router = 0; router < fabric.routers(); ++router)
    refuse_ports(fabric.ports[static_cast<std::size_t>(router)], name_of(fabric, router));
  target_.assign(fabric.ports.size(), -1);
  int targets = 0;
  for (int router = 0; router < fabric.routers(); ++router)
    for (const Port& port : fabric.ports[static_cast<std::size_t>(router)])
      if (port.out.terminal >= 0 && target_[static_cast<std::size_t>(router)] < 0)
        target_[static_cast<std::size_t>(router)] = targets++;
  if (any_grid_) find_grid_ports();
  if (any_up_down_) find_orders();
  if (any_table_) find_tables();
}

void FabricRouter::find_grid_ports() {
  const Fabric& fabric = *fabric_;
  std::int64_t all = 1;
  for (const int side : fabric.sides) all *= side;
  if (fabric.sides.empty() || all != fabric.routers())
    throw Error(
        "routing = \"dimension-order\" needs the switches of one mesh, torus or hypercube; take "
        "\"table\" or \"up-down\"");
  const auto dimensions = fabric.sides.size();
  up_.assign(fabric.ports.size() * dimensions, -1);
  down_.assign(up_.size(), -1);
  for (std::size_t router = 0; router < fabric.ports.size(); ++router)
    for (std::size_t p = 0; p < fabric.ports[router].size(); ++p) {
      const int other = fabric.ports[router][p].out.router;
      if (other < 0) continue;
      int stride = 1;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const int side = fabric.sides[d];
        const int here = static_cast<int>(router) / stride % side;
        const int there = other / stride % side;
        if (here != there) {
          const int step = (there - here + side) % side;
          const std::size_t at = router * dimensions + d;
          (step == 1 ? up_ : down_)[at] = static_cast<std::int8_t>(p);
          // A side of two has one link, and it leads both up and down.
          if (side == 2) up_[at] = down_[at] = static_cast<std::int8_t>(p);
        }
        stride *= side;
      }
    }
}

void FabricRouter::find_tables() {
  const Fabric& fabric = *fabric_;
  std::vector<std::vector<int>> into(fabric.ports.size());
  for (std::size_t r = 0; r < fabric.ports.size(); ++r)
    for (const Port& port : fabric.ports[r])
      if (port.out.router >= 0)
        into[static_cast<std::size_t>(port.out.router)].push_back(static_cast<int>(r));
  std::vector<int> queue;
  for (std::size_t r = 0; r < fabric.ports.size(); ++r) {
    if (target_[r] < 0) continue;
    std::vector<std::uint16_t> distance(fabric.ports.size(), kFar);
    distance[r] = 0;
    queue.assign(1, static_cast<int>(r));
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const int before : into[static_cast<std::size_t>(queue[i])]) {
        auto& far = distance[static_cast<std::size_t>(before)];
        if (far != kFar) continue;
        far = static_cast<std::uint16_t>(distance[static_cast<std::size_t>(queue[i])] + 1);
        queue.push_back(before);
      }
    for (const Place& entry : fabric.entries)
      if (distance[static_cast<std::size_t>(entry.router)] == kFar)
        throw Error(name_of(fabric, static_cast<int>(r)) + " cannot be reached from " +
                    name_of(fabric, entry.router) + "; add a link");
    distance_.push_back(std::move(distance));
  }
}

// Up leads to a router that is nearer to router 0, or as near with a lower number.
void FabricRouter::find_orders() {
  const Fabric& fabric = *fabric_;
  const std::size_t routers = fabric.ports.size();
  std::vector<int> depth(routers, INT32_MAX);
  std::vector<int> queue{0};
  depth[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Port& port : fabric.ports[static_cast<std::size_t>(queue[i])]) {
      const int next = port.out.router;
      if (next < 0 || depth[static_cast<std::size_t>(next)] != INT32_MAX) continue;
      depth[static_cast<std::size_t>(next)] = depth[static_cast<std::size_t>(queue[i])] + 1;
      queue.push_back(next);
    }
  if (queue.size() != routers)
    throw Error("routing = \"up-down\" needs links both ways between all switches");
  order_.resize(routers);
  std::vector<int> sorted(queue);
  std::ranges::stable_sort(sorted, [&](int a, int b) {
    const auto key = [&](int r) { return std::pair(depth[static_cast<std::size_t>(r)], r); };
    return key(a) < key(b);
  });
  for (std::size_t i = 0; i < routers; ++i)
    order_[static_cast<std::size_t>(sorted[i])] = static_cast<int>(i);
  // Against the links from each target, by (router, has gone down).
  for (std::size_t r = 0; r < routers; ++r) {
    if (target_[r] < 0) continue;
    std::vector<std::uint16_t> hops(2 * routers, kFar);
    hops[2 * r] = hops[2 * r + 1] = 0;
    std::vector<std::size_t> states{2 * r, 2 * r + 1};
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::size_t at = states[i] / 2;
      const bool down = states[i] % 2 == 1;
      for (const Port& port : fabric.ports[at]) {
        if (port.out.router < 0) continue;
        const auto before = static_cast<std::size_t>(port.out.router);
        const bool goes_up = order_[at] < order_[before];
        // A way that goes on up must not have gone down; one that goes down has then.
        if (goes_up && down) continue;
        if (!goes_up && !down) continue;
        const auto reach = [&](std::size_t state) {
          if (hops[state] != kFar) return;
          hops[state] = static_cast<std::uint16_t>(hops[states[i]] + 1);
          states.push_back(state);
        };
        reach(2 * before);
        if (!goes_up) reach(2 * before + 1);
      }
    }
    up_down_.push_back(std::move(hops));
  }
}

std::uint64_t FabricRouter::minimal(int router, int to_router) const {
  const auto& distance =
      distance_[static_cast<std::size_t>(target_[static_cast<std::size_t>(to_router)])];
  const auto& ports = fabric_->ports[static_cast<std::size_t>(router)];
  const std::uint16_t next = distance[static_cast<std::size_t>(router)];
  std::uint64_t found = 0;
  for (std::size_t p = 0; p < ports.size(); ++p)
    if (ports[p].out.router >= 0 &&
        distance[static_cast<std::size_t>(ports[p].out.router)] + 1 == next)
      found |= std::uint64_t{1} << p;
  return found;
}

Way FabricRouter::way(int router, int terminal, WayState& state, entity::Random& random) const {
  const Fabric& fabric = *fabric_;
  const Routing routing = fabric.settings[static_cast<std::size_t>(router)].routing;
  const Place& exit = fabric.exits[static_cast<std::size_t>(terminal)];
  const int to_router = exit.router;
  if (to_router == router) return {std::uint64_t{1} << exit.port, -1, 0};
  switch (routing) {
    case Routing::dimension_order:
      return grid_way(router, to_router, state, random);
    case Routing::up_down:
      return up_down_way(router, to_router, state);
    case Routing::table: {
      const std::uint64_t ways = minimal(router, to_router);
      return {ways & (~ways + 1), -1, 0};
    }
    case Routing::random_minimal: {
      std::uint64_t ways = minimal(router, to_router);
      for (std::uint32_t skip = random.below(static_cast<std::uint32_t>(std::popcount(ways)));
           skip > 0; --skip)
        ways &= ways - 1;
      return {ways & (~ways + 1), -1, 0};
    }
    case Routing::adaptive:
      break;
  }
  if (fabric.sides.empty()) return {minimal(router, to_router), -1, 0};
  // All minimal ports by any channel but the first (in a torus the first two), which are for
  // dimension order (Duato 1993).
  Way way = grid_way(router, to_router, state, random);
  way.escape = static_cast<std::int8_t>(std::countr_zero(way.ports));
  way.ports = 0;
  for (OpenDimensions open(fabric, router, to_router); open; open.next()) {
    const bool either = fabric.wraps && 2 * open.up() == open.side();
    const bool goes_up = fabric.wraps ? 2 * open.up() <= open.side() : open.there() > open.here();
    if (goes_up || either) way.ports |= std::uint64_t{1} << up_[open.at()];
    if (!goes_up || either) way.ports |= std::uint64_t{1} << down_[open.at()];
  }
  return way;
}

// In a torus a packet is bound to one half of the channels of a ring while it is in it: the
// upper one where it enters above its destination (Dally, Seitz 1987: no circle of waiting).
Way FabricRouter::grid_way(int router, int to_router, WayState& state,
                           entity::Random& random) const {
  const Fabric& fabric = *fabric_;
  const OpenDimensions open(fabric, router, to_router);
  if (!open) return {};
  if (!fabric.wraps || open.side() < 3) {
    const int port = open.there() > open.here() ? up_[open.at()] : down_[open.at()];
    return {std::uint64_t{1} << port, -1, 0};
  }
  if (state.dimension != static_cast<std::int8_t>(open.dimension())) {
    state.dimension = static_cast<std::int8_t>(open.dimension());
    const bool goes_up =
        2 * open.up() == open.side() ? random.below(2) == 0 : 2 * open.up() < open.side();
    state.direction = goes_up ? 1 : -1;
    state.half = open.here() > open.there() ? 2 : 1;
  }
  const int port = state.direction > 0 ? up_[open.at()] : down_[open.at()];
  return {std::uint64_t{1} << port, -1, state.half};
}

Way FabricRouter::up_down_way(int router, int to_router, WayState& state) const {
  const auto& hops =
      up_down_[static_cast<std::size_t>(target_[static_cast<std::size_t>(to_router)])];
  const auto& ports = fabric_->ports[static_cast<std::size_t>(router)];
  std::uint16_t best = kFar;
  std::size_t chosen = 0;
  bool down = false;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (ports[p].out.router < 0) continue;
    const auto next = static_cast<std::size_t>(ports[p].out.router);
    const bool goes_down = order_[next] > order_[static_cast<std::size_t>(router)];
    if (state.down && !goes_down) continue;
    const std::uint16_t far = hops[2 * next + (goes_down ? 1 : 0)];
    if (far >= best) continue;
    best = far;
    chosen = p;
    down = goes_down;
  }
  state.down = state.down || down;
  return {std::uint64_t{1} << chosen, -1, 0};
}

int FabricRouter::hops(int from, int to) const {
  entity::Random random(1);
  WayState state;
  int router = fabric_->entries[static_cast<std::size_t>(from)].router;
  for (int hops = 1; hops <= 4 * fabric_->routers() + 4; ++hops) {
    const Way next = way(router, to, state, random);
    const std::uint64_t ports = next.ports ? next.ports : std::uint64_t{1} << next.escape;
    const Channel& channel = fabric_
                                 ->ports[static_cast<std::size_t>(router)]
                                        [static_cast<std::size_t>(std::countr_zero(ports))]
                                 .out;
    if (channel.router < 0) return hops;
    router = channel.router;
  }
  throw Error("the routes of the architecture go round in circles");
}

std::size_t FabricRouter::memory() const {
  std::size_t bytes = up_.capacity() + down_.capacity() + target_.capacity() * sizeof(int);
  for (const auto& row : distance_) bytes += row.capacity() * sizeof row[0];
  for (const auto& row : up_down_) bytes += row.capacity() * sizeof row[0];
  return bytes;
}

}  // namespace foretrace::architecture
