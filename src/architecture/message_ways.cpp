#include "architecture/message_ways.hpp"

#include <algorithm>
#include <map>

#include "topology/builders.hpp"

namespace foretrace::architecture {

using machine::NodeId;
using sim::PacketHop;

namespace {

machine::TopologySpec spec_of(const machine::Shape& shape) {
  machine::TopologySpec spec;
  spec.shape = shape;
  return spec;
}

}  // namespace

MessageWays::Outer::Outer(const machine::Shape& shape)
    : topology(machine::build_topology(spec_of(shape))), routing(topology, false, true) {}

MessageWays::MessageWays(const FlatArchitecture& architecture, const MessageGraph& graph,
                         const machine::Topology& topology)
    : graph_(graph), whole_(topology, false, true) {
  if (topology.shape().kind == machine::TopologyKind::arbitrary) outer_ = outer_of(architecture);
}

// None where other parts lie beside the template, or an element is no tree with one way out.
std::unique_ptr<MessageWays::Outer> MessageWays::outer_of(
    const FlatArchitecture& architecture) const {
  if (architecture.templates.size() != 1) return nullptr;
  const TemplateUse& use = architecture.templates.front();
  if (use.shape.kind == machine::TopologyKind::arbitrary ||
      std::ranges::any_of(use.switches,
                          [](const auto& one) { return one.second - one.first != 1; }))
    return nullptr;
  auto outer = std::make_unique<Outer>(use.shape);
  if (!find_elements(architecture, use, *outer)) return nullptr;
  return outer;
}

bool MessageWays::find_elements(const FlatArchitecture& architecture, const TemplateUse& use,
                                Outer& outer) const {
  const machine::TopologyGraph& graph = graph_.topology->graph();
  std::vector<std::int32_t> node(architecture.entities.size(), -1);
  for (std::size_t n = 0; n < graph_.entity_of.size(); ++n)
    node[static_cast<std::size_t>(graph_.entity_of[n])] = static_cast<std::int32_t>(n);
  // By node of the graph: which node of the template it belongs to.
  std::vector<std::int32_t> belongs(node.size(), -1);
  std::size_t members = 0;
  const auto take = [&](const auto& ranges, std::int32_t first) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (int e = ranges[i].first; e < ranges[i].second; ++e, ++members)
        belongs[static_cast<std::size_t>(node[static_cast<std::size_t>(e)])] =
            first + static_cast<std::int32_t>(i);
  };
  const int elements = outer.topology.processors();
  take(use.elements, 0);
  take(use.switches, elements);
  if (members != node.size()) return false;

  // The links between elements are the template's; one node of each has them all.
  std::vector<std::int32_t> port(static_cast<std::size_t>(outer.topology.nodes()), -1);
  outer.link.assign(static_cast<std::size_t>(outer.topology.links()), -1);
  for (int l = 0; l < graph.links(); ++l) {
    const auto from = static_cast<std::size_t>(graph.from(l));
    const auto to = static_cast<std::size_t>(graph.to(l));
    if (belongs[from] == belongs[to]) continue;
    const int link = outer.topology.graph().find(belongs[from], belongs[to]);
    if (link < 0 || outer.link[static_cast<std::size_t>(link)] >= 0) return false;
    outer.link[static_cast<std::size_t>(link)] = l;
    for (const std::size_t end : {from, to}) {
      std::int32_t& own = port[static_cast<std::size_t>(belongs[end])];
      if (own >= 0 && own != static_cast<std::int32_t>(end)) return false;
      own = static_cast<std::int32_t>(end);
    }
  }
  if (std::ranges::count(outer.link, -1) > 0 || std::ranges::count(port, -1) > 0) return false;

  // From each port through its element, which must be a tree with links both ways.
  outer.up.assign(node.size(), -1);
  outer.down.assign(node.size(), -1);
  for (const std::int32_t root : port) {
    std::vector<std::int32_t> reached{root};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (int l = graph.first(reached[i]); l < graph.first(reached[i] + 1); ++l) {
        const int next = graph.to(l);
        const int back = graph.find(next, reached[i]);
        const auto at = static_cast<std::size_t>(next);
        if (belongs[at] != belongs[static_cast<std::size_t>(root)]) continue;
        if (back < 0) return false;
        if (back == outer.down[static_cast<std::size_t>(reached[i])] ||
            l == outer.up[static_cast<std::size_t>(reached[i])])
          continue;
        if (next == root || outer.up[at] >= 0) return false;
        outer.up[at] = back;
        outer.down[at] = l;
        reached.push_back(next);
      }
    members -= reached.size();
  }
  outer.element = std::move(belongs);
  return members == 0;
}

std::vector<std::uint8_t> MessageWays::ring_directions() const {
  if (!outer_) return whole_.ring_directions();
  const std::vector<std::uint8_t> own = outer_->routing.ring_directions();
  std::vector<std::uint8_t> all(static_cast<std::size_t>(graph_.topology->links()), 0);
  for (std::size_t l = 0; l < own.size(); ++l)
    all[static_cast<std::size_t>(outer_->link[l])] = own[l];
  return all;
}

bool MessageWays::route(NodeId from, NodeId to, std::vector<PacketHop>& hops) const {
  if (!outer_) return whole_.route(from, to, hops);
  const auto element = [&](NodeId node) {
    return outer_->element[static_cast<std::size_t>(node.value)];
  };
  if (element(from) == element(to)) return whole_.route(from, to, hops);
  if (!outer_->routing.route(NodeId(element(from)), NodeId(element(to)), hops)) return false;
  const auto of_graph = [&](std::int32_t link) {
    return outer_->link[static_cast<std::size_t>(link)];
  };
  for (PacketHop& hop : hops) hop = {of_graph(hop.link), of_graph(hop.buffer)};
  const machine::TopologyGraph& graph = graph_.topology->graph();
  std::vector<PacketHop> before;
  for (std::int32_t at = from.value; outer_->up[static_cast<std::size_t>(at)] >= 0;) {
    const std::int32_t link = outer_->up[static_cast<std::size_t>(at)];
    before.push_back({link, link});
    at = graph.to(link);
  }
  hops.insert(hops.begin(), before.begin(), before.end());
  const auto end = static_cast<std::ptrdiff_t>(hops.size());
  for (std::int32_t at = to.value; outer_->down[static_cast<std::size_t>(at)] >= 0;) {
    const std::int32_t link = outer_->down[static_cast<std::size_t>(at)];
    hops.insert(hops.begin() + end, PacketHop{link, link});
    at = graph.from(link);
  }
  return true;
}

std::size_t MessageWays::memory() const {
  std::size_t bytes = whole_.memory();
  if (outer_)
    bytes += outer_->routing.memory() +
             (outer_->element.capacity() * 3 + outer_->link.capacity()) * sizeof(std::int32_t);
  return bytes;
}

}  // namespace foretrace::architecture
