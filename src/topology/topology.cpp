#include "topology/topology.hpp"

namespace foretrace::machine {

Topology::Topology(TopologySpec spec, TopologyGraph graph, std::vector<LinkSpeed> speeds,
                   std::vector<std::string> node_names)
    : spec_(std::move(spec)),
      graph_(std::make_shared<const TopologyGraph>(std::move(graph))),
      speeds_(std::move(speeds)),
      node_names_(std::move(node_names)),
      router_(make_router(spec_.shape, graph_)) {
  if (speeds_.empty()) speeds_.push_back(spec_.link);
  if (!graph_->has_bus()) return;
  bus_carrier_.assign(static_cast<std::size_t>(switches()), -1);
  for (int l = links() - 1; l >= 0; --l)
    if (graph_->kind(graph_->to(l)) == NodeKind::bus)
      bus_carrier_[static_cast<std::size_t>(graph_->to(l) - processors())] = l;
}

std::string Topology::node_name(NodeId node) const {
  if (!node_names_.empty()) return node_names_[static_cast<std::size_t>(node.value)];
  if (node.value < processors()) return std::to_string(node.value);
  if (kind(node) == NodeKind::bus) return "bus";
  return "s" + std::to_string(node.value - processors());
}

LinkId Topology::bus_carrier(LinkId link) const {
  const int to = graph_->to(link.value);
  if (graph_->kind(to) != NodeKind::bus) return link;
  return LinkId(bus_carrier_[static_cast<std::size_t>(to - processors())]);
}

std::optional<int> Topology::hops(NodeId from, NodeId to) const {
  if (from == to) return 0;
  const int count =
      std::visit([&](const auto& router) { return router.hops(from.value, to.value); }, router_);
  if (count == kUnreachable) return std::nullopt;
  return count;
}

NodeId Topology::next_hop(NodeId at, NodeId to) const {
  if (at == to) return NodeId();
  return NodeId(
      std::visit([&](const auto& router) { return router.next(at.value, to.value); }, router_));
}

bool Topology::route(NodeId from, NodeId to, std::vector<LinkId>& links) const {
  links.clear();
  return std::visit(
      [&](const auto& router) {
        for (int at = from.value; at != to.value;) {
          const int next = router.next(at, to.value);
          if (next == kUnreachable) return false;
          links.emplace_back(graph_->find(at, next));
          at = next;
        }
        return true;
      },
      router_);
}

Topology Topology::with_speeds_times(double latency, double bandwidth) const {
  Topology scaled = *this;
  const auto scale = [&](LinkSpeed& speed) {
    if (speed.latency) speed.latency = speed.latency->scaled(latency);
    if (speed.bytes_per_second) *speed.bytes_per_second *= bandwidth;
  };
  for (LinkSpeed& speed : scaled.speeds_) scale(speed);
  scale(scaled.spec_.link);
  scale(scaled.spec_.intra_node);
  return scaled;
}

std::optional<Topology> Topology::with_link_times(NodeId a, NodeId b, double factor,
                                                  double bytes_per_second) const {
  Topology faster = *this;
  const auto speed_up = [&](const std::vector<int>& links) {
    LinkSpeed speed = this->speed(LinkId(links.front()));
    speed.bytes_per_second = factor * speed.bytes_per_second.value_or(bytes_per_second);
    faster.graph_ = std::make_shared<const TopologyGraph>(
        faster.graph_->with_speed(links, static_cast<int>(faster.speeds_.size())));
    faster.speeds_.push_back(speed);
  };
  bool found = false;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const int link = graph_->find(from.value, to.value);
    if (link < 0) continue;
    found = true;
    if (kind(to) != NodeKind::bus) {
      speed_up({link});
      continue;
    }
    std::vector<int> medium{carrier(LinkId(link)).value};
    for (int l = 0; l < links(); ++l)
      if (graph_->to(l) == to.value && l != medium.front()) medium.push_back(l);
    speed_up(medium);
  }
  if (!found) return std::nullopt;
  return faster;
}

}  // namespace foretrace::machine
