#include "architecture/flat_fabric.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

bool passes(const FlatEntity& entity) {
  return entity.behaviour_name() == "nic" || entity.behaviour_name() == "memory";
}

struct Edge {
  int to = 0;
  int link = 0;
  bool forth = true;  // along the link's own direction
};

class Builder {
 public:
  Builder(const FlatArchitecture& architecture, Terminals terminals)
      : architecture_(architecture), terminals_(terminals) {
    const std::size_t count = architecture.entities.size();
    edges_.resize(count);
    router_.assign(count, -1);
    terminal_.assign(count, -1);
    for (std::size_t l = 0; l < architecture.links.size(); ++l) {
      const FlatLink& link = architecture.links[l];
      const auto number = static_cast<int>(l);
      edges_[static_cast<std::size_t>(link.from.entity)].push_back({link.to.entity, number, true});
      edges_[static_cast<std::size_t>(link.to.entity)].push_back({link.from.entity, number, false});
    }
  }

  FlatFabric build() {
    number_nodes();
    if (made_.fabric.ports.empty() || made_.terminal_entity.empty())
      throw Error(architecture_.file + ": has " + std::to_string(made_.terminal_entity.size()) +
                  " processors and " + std::to_string(made_.fabric.ports.size()) +
                  " switches; traffic needs both");
    find_grid();
    find_settings();
    attach_terminals();
    link_routers();
    return std::move(made_);
  }

 private:
  const FlatEntity& entity(int number) const {
    return architecture_.entities[static_cast<std::size_t>(number)];
  }

  // A processor with links to several others, or to a processor, has a router of its own.
  bool is_direct(int number) const {
    const auto& edges = edges_[static_cast<std::size_t>(number)];
    return std::ranges::any_of(
        edges, [&](const Edge& edge) { return entity(edge.to).behaviour_name() == "processor"; });
  }

  void number_nodes() {
    for (std::size_t e = 0; e < architecture_.entities.size(); ++e) {
      const auto number = static_cast<int>(e);
      const FlatEntity& one = entity(number);
      const bool processor = one.behaviour_name() == "processor";
      if (one.is_bus())
        throw Error(one.where.text() + ": '" + one.path + "' is a " +
                    std::string(one.behaviour_name()) +
                    ", which has no switches to be simulated by flits");
      if (one.is_switch() || (processor && is_direct(number))) {
        router_[e] = static_cast<int>(made_.router_entity.size());
        made_.router_entity.push_back(number);
        made_.fabric.names.push_back(one.path);
        made_.fabric.ports.emplace_back();
      }
      if (!processor || (terminals_ == Terminals::links && router_[e] < 0)) continue;
      terminal_[e] = static_cast<int>(made_.terminal_entity.size());
      made_.terminal_entity.push_back(number);
    }
    if (terminals_ == Terminals::links) add_link_terminals();
    made_.fabric.entries.resize(made_.terminal_entity.size());
    made_.fabric.exits.resize(made_.terminal_entity.size());
  }

  // Links between a switch and what is none. A link one way and one back make a terminal together.
  void add_link_terminals() {
    for (std::size_t e = 0; e < architecture_.entities.size(); ++e) {
      if (router_[e] >= 0) continue;
      std::vector<std::pair<int, int>> to, from;  // routers with their links
      for (const Edge& edge : edges_[e]) {
        const int there = router_[static_cast<std::size_t>(edge.to)];
        if (there < 0) continue;
        const FlatLink& link = architecture_.links[static_cast<std::size_t>(edge.link)];
        if (!link.one_way || edge.forth) to.emplace_back(there, edge.link);
        if (!link.one_way || !edge.forth) from.emplace_back(there, edge.link);
      }
      if (to.size() != from.size())
        throw Error(entity(static_cast<int>(e)).where.text() + ": '" +
                    entity(static_cast<int>(e)).path + "' has " + std::to_string(to.size()) +
                    " links to switches and " + std::to_string(from.size()) +
                    " back; make them as many");
      for (std::size_t i = 0; i < to.size(); ++i) {
        made_.terminal_entity.push_back(static_cast<int>(e));
        attached_.push_back({to[i].first, from[i].first, to[i].second});
      }
    }
  }

  // The switches are a grid if a template's parts have one each, and there are no others.
  void find_grid() {
    own_ = Routing::up_down;
    for (const TemplateUse& use : architecture_.templates) {
      std::size_t found = 0;
      bool one_each = true;
      for (const auto& [from, to] : use.elements) {
        int here = 0;
        for (int e = from; e < to; ++e) here += router_[static_cast<std::size_t>(e)] >= 0;
        one_each &= here == 1;
        found += static_cast<std::size_t>(here);
      }
      for (const auto& [from, to] : use.switches)
        for (int e = from; e < to; ++e) found += router_[static_cast<std::size_t>(e)] >= 0;
      if (found != made_.fabric.ports.size()) continue;
      const bool grid = machine::is_grid(use.shape);
      if (grid && !one_each) continue;
      own_ = own_routing(use.shape.kind);
      if (!grid) continue;
      made_.fabric.sides = machine::grid_sides(use.shape);
      std::ranges::reverse(made_.fabric.sides);
      made_.fabric.wraps = machine::grid_wraps(use.shape);
    }
  }

  void find_settings() {
    bool first = true;
    for (const int number : made_.router_entity) {
      const FlatEntity& one = entity(number);
      if (!one.is_switch()) {
        SwitchSettings plain;
        plain.routing = own_;
        plain.vcs = made_.fabric.wraps ? 2 : 1;
        made_.fabric.settings.push_back(plain);
        continue;
      }
      made_.fabric.settings.push_back(settings_of(one, own_));
      const auto cycle = one.parameters->time("cycle");
      const auto flit = static_cast<std::int64_t>(one.parameters->number("flit"));
      if (cycle < 1 || flit < 1)
        throw Error(one.where.text() + ": '" + one.path + "' needs a cycle and a flit above 0");
      if (!first && (cycle != made_.cycle || flit != made_.flit_bytes))
        throw Error(one.where.text() + ": '" + one.path +
                    "' has another cycle or flit than the switches before it; make them equal");
      made_.cycle = cycle;
      made_.flit_bytes = flit;
      first = false;
    }
  }

  int cycles_of(const FlatLink& link) const {
    if (!link.speed.latency) return 1;
    const std::int64_t ps = link.speed.latency->count_ps();
    const std::int64_t cycles = (ps + made_.cycle - 1) / made_.cycle;
    if (cycles > 1'000'000)
      throw Error(link.where.text() + ": the link takes " + std::to_string(cycles) +
                  " cycles of its switch; 1000000 are the most");
    return static_cast<int>(std::max<std::int64_t>(1, cycles));
  }

  void attach_terminals() {
    for (std::size_t e = 0; e < terminal_.size(); ++e) {
      if (terminal_[e] < 0) continue;
      if (router_[e] >= 0)
        made_.fabric.link_terminal(terminal_[e], router_[e], router_[e], 1);
      else
        attach(static_cast<int>(e));
    }
    // Those of links are the last.
    int terminal = made_.fabric.terminals() - static_cast<int>(attached_.size());
    for (const Attached& one : attached_)
      made_.fabric.link_terminal(
          terminal++, one.to, one.from,
          cycles_of(architecture_.links[static_cast<std::size_t>(one.link)]));
  }

  void link_routers() {
    Fabric& fabric = made_.fabric;
    for (const FlatLink& link : architecture_.links) {
      const int a = router_[static_cast<std::size_t>(link.from.entity)];
      const int b = router_[static_cast<std::size_t>(link.to.entity)];
      if (a >= 0 && b >= 0) fabric.link_routers(a, b, cycles_of(link), link.one_way);
    }
  }

  // The first switch that a processor sends to, and the first that it receives from, through
  // whatever lies between.
  void attach(int processor) {
    int to = -1;
    int from = -1;
    int cycles = 1;
    std::vector<int> queue{processor};
    for (std::size_t i = 0; i < queue.size() && (to < 0 || from < 0); ++i)
      for (const Edge& edge : edges_[static_cast<std::size_t>(queue[i])]) {
        const FlatLink& link = architecture_.links[static_cast<std::size_t>(edge.link)];
        const int router = router_[static_cast<std::size_t>(edge.to)];
        if (router >= 0) {
          if (to < 0 && (edge.forth || !link.one_way)) {
            to = router;
            cycles = cycles_of(link);
          }
          if (from < 0 && (!edge.forth || !link.one_way)) from = router;
        } else if (passes(entity(edge.to)) && std::ranges::find(queue, edge.to) == queue.end()) {
          queue.push_back(edge.to);
        }
      }
    if (to < 0 || from < 0)
      throw Error(entity(processor).where.text() + ": '" + entity(processor).path +
                  "' has no way to a switch and back; add a link");
    made_.fabric.link_terminal(terminal_[static_cast<std::size_t>(processor)], to, from, cycles);
  }

  struct Attached {
    int to = 0, from = 0;  // routers
    int link = 0;
  };

  const FlatArchitecture& architecture_;
  Terminals terminals_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<Attached> attached_;  // Terminals::links
  std::vector<int> router_, terminal_;
  Routing own_ = Routing::up_down;
  FlatFabric made_;
};

}  // namespace

Routing own_routing(machine::TopologyKind kind) {
  switch (kind) {
    case machine::TopologyKind::ring:
    case machine::TopologyKind::array:
    case machine::TopologyKind::mesh:
    case machine::TopologyKind::torus:
    case machine::TopologyKind::hypercube:
      return Routing::dimension_order;
    case machine::TopologyKind::tree:
    case machine::TopologyKind::fattree:
    case machine::TopologyKind::xgft:
      return Routing::random_minimal;
    case machine::TopologyKind::full:
    case machine::TopologyKind::star:
    case machine::TopologyKind::omega:
    case machine::TopologyKind::crossbar:
    case machine::TopologyKind::bus:
      return Routing::table;
    case machine::TopologyKind::dragonfly:
    case machine::TopologyKind::arbitrary:
      break;
  }
  return Routing::up_down;
}

SwitchSettings settings_of(const FlatEntity& entity, Routing own) {
  const entity::Parameters& given = *entity.parameters;
  SwitchSettings made;
  made.level = entity.level == "crossbar" ? SwitchLevel::crossbar : SwitchLevel::queued;
  const std::string allocation = given.text("allocation");
  made.allocation = allocation == "joint"         ? Allocation::joint
                    : allocation == "speculative" ? Allocation::speculative
                                                  : Allocation::sequential;
  const std::string routing = given.text("routing");
  made.routing = routing == "own"               ? own
                 : routing == "table"           ? Routing::table
                 : routing == "random"          ? Routing::random_minimal
                 : routing == "adaptive"        ? Routing::adaptive
                 : routing == "dimension-order" ? Routing::dimension_order
                                                : Routing::up_down;
  made.vcs = static_cast<int>(given.number("vcs"));
  made.buffer = static_cast<int>(given.number("buffer"));
  made.crossbar_delay = static_cast<int>(given.number("crossbar_delay"));
  return made;
}

FlatFabric fabric_of(const FlatArchitecture& architecture, Terminals terminals) {
  return Builder(architecture, terminals).build();
}

}  // namespace foretrace::architecture
