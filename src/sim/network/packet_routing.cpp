#include "sim/network/packet_routing.hpp"

#include <algorithm>

namespace foretrace::sim {
namespace {

using machine::NodeId;
using machine::NodeKind;
using machine::TopologyGraph;
using machine::TopologyKind;

// Minimal routes: up and down a tree, dimension order on a mesh (e-cube), the
// stages of an omega network and everything of one or two hops order the links;
// a packet waits only for later ones. Minimal adaptive routes keep that order
// where they only choose among parents, or have no choice.
CycleRule rule_for(const machine::Shape& shape, bool adaptive) {
  switch (shape.kind) {
    case TopologyKind::ring:
    case TopologyKind::torus:
      return adaptive ? CycleRule::channels : CycleRule::bubble;
    case TopologyKind::mesh:
    case TopologyKind::hypercube:
      return adaptive ? CycleRule::channels : CycleRule::none;
    case TopologyKind::dragonfly:
    case TopologyKind::arbitrary:
      return CycleRule::channels;
    default:
      return CycleRule::none;
  }
}

// Kinds whose distances between any nodes are searched for.
bool needs_tables(const machine::Shape& shape) {
  return shape.kind == TopologyKind::dragonfly || shape.kind == TopologyKind::arbitrary;
}

}  // namespace

PacketRouting::PacketRouting(const machine::Topology& topology, bool adaptive, bool avoid_deadlock)
    : topology_(&topology), adaptive_(adaptive) {
  if (avoid_deadlock) rule_ = rule_for(topology.shape(), adaptive);
  if (!adaptive || !needs_tables(topology.shape())) return;
  incoming_.emplace_back(topology.graph());
  slot_.assign(static_cast<std::size_t>(topology.processors()), -1);
  constexpr std::size_t kTableBytes = std::size_t{1} << 26;
  capacity_ = std::max<std::size_t>(
      4, kTableBytes / (sizeof(int) * static_cast<std::size_t>(topology.nodes()) + 1));
}

PacketHop PacketRouting::step(std::int32_t link, NodeId to) const {
  const TopologyGraph& graph = topology_->graph();
  const int next = graph.to(link);
  if (graph.kind(next) != NodeKind::bus) return {link, link};
  return {link, graph.find(next, topology_->next_hop(NodeId(next), to).value)};
}

bool PacketRouting::route(NodeId from, NodeId to, std::vector<PacketHop>& hops) const {
  hops.clear();
  if (!topology_->route(from, to, links_)) return false;
  const TopologyGraph& graph = topology_->graph();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const std::int32_t link = links_[i].value;
    const bool into_bus = graph.has_bus() && graph.kind(graph.to(link)) == NodeKind::bus;
    if (into_bus) ++i;
    hops.push_back({link, links_[i].value});
  }
  return true;
}

void PacketRouting::closer(NodeId at, NodeId to, std::vector<PacketHop>& steps) const {
  steps.clear();
  if (at == to) return;
  const TopologyGraph& graph = topology_->graph();
  const int first = graph.first(at.value);
  const int last = graph.first(at.value + 1);
  if (needs_tables(topology_->shape())) {
    const std::vector<int>& left = distances(to.value);
    for (int l = first; l < last; ++l) {
      const int after = left[static_cast<std::size_t>(graph.to(l))];
      if (after != machine::kUnreachable &&
          after + graph.hops(l) == left[static_cast<std::size_t>(at.value)])
        steps.push_back(step(l, to));
    }
    return;
  }
  if (machine::is_grid(topology_->shape())) {
    const int left = *topology_->hops(at, to);
    for (int l = first; l < last; ++l)
      if (*topology_->hops(topology_->to(machine::LinkId(l)), to) < left) steps.push_back({l, l});
    return;
  }
  const int next = topology_->next_hop(at, to).value;
  // Trees are numbered by level: every parent is as near as the next one up.
  const bool up = machine::is_tree(topology_->shape()) && next > at.value;
  for (int l = first; l < last; ++l)
    if (graph.to(l) == next || (up && graph.to(l) > at.value)) steps.push_back(step(l, to));
}

std::vector<std::uint8_t> PacketRouting::ring_directions() const {
  std::vector<std::uint8_t> rings(static_cast<std::size_t>(topology_->links()), 0);
  if (!machine::is_grid(topology_->shape()) || !machine::grid_wraps(topology_->shape()))
    return rings;
  const std::vector<int> sides = machine::grid_sides(topology_->shape());
  for (int l = 0; l < topology_->links(); ++l) {
    int from = topology_->graph().from(l);
    int to = topology_->graph().to(l);
    std::uint8_t ring = 1;
    for (auto side = sides.rbegin(); side != sides.rend(); ++side, ring += 2) {
      const int x = from % *side;
      const int y = to % *side;
      if (x != y && *side > 2)
        rings[static_cast<std::size_t>(l)] =
            static_cast<std::uint8_t>((x + 1) % *side == y ? ring : ring + 1);
      from /= *side;
      to /= *side;
    }
  }
  return rings;
}

const std::vector<int>& PacketRouting::distances(int destination) const {
  std::int32_t& slot = slot_[static_cast<std::size_t>(destination)];
  if (slot >= 0) return tables_[static_cast<std::size_t>(slot)].hops;
  if (tables_.size() < capacity_) {
    slot = static_cast<std::int32_t>(tables_.size());
    tables_.emplace_back();
  } else {
    slot = static_cast<std::int32_t>(oldest_);
    oldest_ = (oldest_ + 1) % capacity_;
    slot_[static_cast<std::size_t>(tables_[static_cast<std::size_t>(slot)].destination)] = -1;
  }
  Table& table = tables_[static_cast<std::size_t>(slot)];
  table.destination = destination;
  table.hops = machine::hops_to(topology_->graph(), incoming_.front(), destination);
  return table.hops;
}

std::size_t PacketRouting::memory() const {
  std::size_t bytes = slot_.capacity() * sizeof(std::int32_t);
  for (const Table& table : tables_) bytes += table.hops.capacity() * sizeof(int);
  for (const machine::IncomingLinks& in : incoming_)
    bytes += (in.first.capacity() + in.link.capacity()) * sizeof(int);
  return bytes;
}

}  // namespace foretrace::sim
