#include "topology/routing.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace foretrace::machine {

int GridRouter::next(int at, int to) const {
  int stride = 1;
  int rest_at = at;
  int rest_to = to;
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    const int x = rest_at % *side;
    const int y = rest_to % *side;
    if (x != y) {
      const int up = y > x ? y - x : y - x + *side;
      const bool rising = wrap ? 2 * up <= *side : y > x;
      const int moved = rising ? (x + 1 == *side ? 0 : x + 1) : (x == 0 ? *side - 1 : x - 1);
      return at + (moved - x) * stride;
    }
    rest_at /= *side;
    rest_to /= *side;
    stride *= *side;
  }
  return to;
}

int GridRouter::hops(int from, int to) const {
  int total = 0;
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    const int apart = std::abs(from % *side - to % *side);
    total += wrap ? std::min(apart, *side - apart) : apart;
    from /= *side;
    to /= *side;
  }
  return total;
}

int HypercubeRouter::hops(int from, int to) const {
  return std::popcount(static_cast<unsigned>(from) ^ static_cast<unsigned>(to));
}

TreeRouter::TreeRouter(const TreeSizes& sizes) : m_(sizes.m), w_(sizes.w) {
  int processors = 1;
  for (int m : m_) processors *= m;
  int under = 1;
  int copies = 1;
  int first = 0;
  for (std::size_t level = 0; level <= m_.size(); ++level) {
    below_.push_back(under);
    copies_.push_back(copies);
    first_of_level_.push_back(first);
    first += processors / under * copies;
    if (level == m_.size()) break;
    under *= m_[level];
    copies *= w_[level];
  }
}

int TreeRouter::next(int at, int to) const {
  std::size_t level = m_.size();
  while (first_of_level_[level] > at) --level;
  const int index = at - first_of_level_[level];
  const int copy = index % copies_[level];
  const int subtree = index / copies_[level];
  if (subtree == to / below_[level]) {
    const std::size_t down = level - 1;
    return first_of_level_[down] + to / below_[down] * copies_[down] + copy % copies_[down];
  }
  const std::size_t up = level + 1;
  const int port = to / copies_[level] % w_[level];
  return first_of_level_[up] + subtree / m_[level] * copies_[up] + copy + port * copies_[level];
}

int TreeRouter::hops(int from, int to) const {
  int level = 0;
  while (from != to) {
    from /= m_[static_cast<std::size_t>(level)];
    to /= m_[static_cast<std::size_t>(level)];
    ++level;
  }
  return 2 * level;
}

int OmegaRouter::next(int at, int to) const {
  const auto shuffle = [this](int line) {
    return ((line << 1) | (line >> (stages - 1))) & (processors - 1);
  };
  const int half = processors / 2;
  if (at < processors) return processors + shuffle(at) / 2;
  const int stage = (at - processors) / half;
  const int number = (at - processors) % half;
  const int line = 2 * number + (to >> (stages - 1 - stage) & 1);
  if (stage + 1 == stages) return line;
  return processors + (stage + 1) * half + shuffle(line) / 2;
}

DragonflyRouter::DragonflyRouter(int routers, int global_links, int processors)
    : routers_(routers),
      global_links_(global_links),
      processors_(processors),
      groups_(routers * global_links + 1),
      first_router_(groups_ * routers * processors) {}

int DragonflyRouter::next(int at, int to) const {
  if (at < first_router_) return first_router_ + at / processors_;
  const int here = at - first_router_;
  const int there = to / processors_;
  if (here == there) return to;
  const int group = here / routers_;
  const int target = there / routers_;
  if (group == target) return first_router_ + there;
  const int distance = (target - group + groups_) % groups_;
  if (const int out = gateway(distance); here % routers_ != out)
    return first_router_ + group * routers_ + out;
  return first_router_ + target * routers_ + gateway(groups_ - distance);
}

int DragonflyRouter::hops(int from, int to) const {
  const int here = from / processors_;
  const int there = to / processors_;
  if (here == there) return 2;
  const int group = here / routers_;
  const int target = there / routers_;
  if (group == target) return 3;
  const int distance = (target - group + groups_) % groups_;
  return 3 + (here % routers_ != gateway(distance)) +
         (there % routers_ != gateway(groups_ - distance));
}

TableRouter::TableRouter(std::shared_ptr<const TopologyGraph> graph)
    : graph_(std::move(graph)),
      incoming_(*graph_),
      slot_(static_cast<std::size_t>(graph_->processors()), -1) {
  // About 64 MiB of tables, eight bytes a node.
  constexpr std::size_t kCacheBytes = std::size_t{1} << 26;
  const std::size_t table_bytes = 8 * static_cast<std::size_t>(graph_->nodes()) + 1;
  capacity_ = std::max<std::size_t>(4, kCacheBytes / table_bytes);
}

const TableRouter::Table& TableRouter::table(int destination) const {
  int& slot = slot_[static_cast<std::size_t>(destination)];
  if (slot >= 0) return tables_[static_cast<std::size_t>(slot)];
  if (tables_.size() < capacity_) {
    slot = static_cast<int>(tables_.size());
    tables_.emplace_back();
  } else {
    slot = static_cast<int>(oldest_);
    oldest_ = (oldest_ + 1) % capacity_;
    slot_[static_cast<std::size_t>(tables_[static_cast<std::size_t>(slot)].destination)] = -1;
  }
  Table& table = tables_[static_cast<std::size_t>(slot)];
  table.destination = destination;
  table.hops = hops_to(*graph_, incoming_, destination);
  table.next.assign(table.hops.size(), kUnreachable);
  for (int node = 0; node < graph_->nodes(); ++node) {
    const int left = table.hops[static_cast<std::size_t>(node)];
    if (left == kUnreachable) continue;
    for (int l = graph_->first(node); l < graph_->first(node + 1); ++l) {
      const int after = table.hops[static_cast<std::size_t>(graph_->to(l))];
      if (after == kUnreachable || after + graph_->hops(l) != left) continue;
      table.next[static_cast<std::size_t>(node)] = graph_->to(l);
      break;
    }
  }
  return table;
}

Router make_router(const Shape& shape, const std::shared_ptr<const TopologyGraph>& graph) {
  switch (shape.kind) {
    case TopologyKind::full:
      return FullRouter{};
    case TopologyKind::star:
      return HubRouter{0, false};
    case TopologyKind::bus:
      return HubRouter{graph->processors(), true};
    case TopologyKind::crossbar:
      return HubRouter{graph->processors(), false};
    case TopologyKind::hypercube:
      return HypercubeRouter{};
    case TopologyKind::ring:
    case TopologyKind::array:
    case TopologyKind::mesh:
    case TopologyKind::torus:
      return GridRouter{grid_sides(shape), grid_wraps(shape)};
    case TopologyKind::tree:
    case TopologyKind::fattree:
    case TopologyKind::xgft:
      return TreeRouter(tree_sizes(shape));
    case TopologyKind::omega: {
      const auto n = static_cast<unsigned>(shape.sizes[0]);
      return OmegaRouter{shape.sizes[0], std::countr_zero(n)};
    }
    case TopologyKind::dragonfly:
      return DragonflyRouter(shape.sizes[0], shape.sizes[1], shape.sizes[2]);
    case TopologyKind::arbitrary:
      break;
  }
  return TableRouter(graph);
}

std::string_view routing_rule(const Shape& shape) {
  switch (shape.kind) {
    case TopologyKind::full:
      return "direct";
    case TopologyKind::star:
      return "through processor 0";
    case TopologyKind::bus:
      return "over the shared medium";
    case TopologyKind::crossbar:
      return "through the switch";
    case TopologyKind::hypercube:
      return "e-cube, the lowest differing bit first";
    case TopologyKind::ring:
      return "the shorter way round, rising numbers where both are equal";
    case TopologyKind::array:
      return "along the line";
    case TopologyKind::mesh:
      return "dimension order, the last dimension first";
    case TopologyKind::torus:
      return "dimension order, the last dimension first, the shorter way round";
    case TopologyKind::tree:
    case TopologyKind::fattree:
    case TopologyKind::xgft:
      return "up to the lowest common ancestor and down; up-links by destination (d-mod-k)";
    case TopologyKind::omega:
      return "destination tag, the only way";
    case TopologyKind::dragonfly:
      return "at most one link between groups";
    case TopologyKind::arbitrary:
      break;
  }
  return "fewest hops, the lowest-numbered next node where several are equal";
}

}  // namespace foretrace::machine
