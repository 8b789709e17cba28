#include "topology/properties.hpp"

#include <algorithm>
#include <bit>

namespace foretrace::machine {
namespace {

// Sum and greatest of the distances over ordered pairs of processors.
struct Distances {
  double sum = 0;
  double pairs = 0;
  int greatest = 0;

  void add(int hops, double count) {
    if (count <= 0) return;
    sum += hops * count;
    pairs += count;
    greatest = std::max(greatest, hops);
  }
  double mean() const { return pairs > 0 ? sum / pairs : 0; }
};

// Grids: the dimensions add up. Over ordered pairs of one line of k nodes the
// distances sum to k(k^2-1)/3, of a ring to k*floor(k^2/4).
Distances grid_distances(const Shape& shape, double processors) {
  Distances distances;
  distances.pairs = processors * (processors - 1);
  for (int side : grid_sides(shape)) {
    const double k = side;
    const bool ring = grid_wraps(shape);
    const double line =
        ring ? k * static_cast<double>(std::int64_t{side} * side / 4) : k * (k * k - 1) / 3;
    distances.sum += line * (processors / k) * (processors / k);
    distances.greatest += ring ? side / 2 : side - 1;
  }
  return distances;
}

// Trees: a processor has M(l) - M(l-1) others at 2l hops, M(l) = m1*..*ml.
Distances tree_distances(const TreeSizes& sizes, double processors) {
  Distances distances;
  double below = 1;
  int level = 0;
  for (int m : sizes.m) {
    ++level;
    distances.add(2 * level, processors * below * (m - 1));
    below *= m;
  }
  return distances;
}

// Routes of a dragonfly by where the two routers are: in each ordered pair of
// groups, of the a*a pairs of routers one has the link itself, 2(a-1) have it
// at one end, the others at none.
Distances dragonfly_routes(const Shape& shape) {
  const double a = shape.sizes[0];
  const double p = shape.sizes[2];
  const double groups = a * shape.sizes[1] + 1;
  Distances distances;
  distances.add(2, groups * a * p * (p - 1));
  distances.add(3, groups * a * (a - 1) * p * p);
  const double pairs = groups * (groups - 1) * p * p;
  distances.add(3, pairs);
  distances.add(4, pairs * 2 * (a - 1));
  distances.add(5, pairs * (a - 1) * (a - 1));
  return distances;
}

Distances formula_distances(const Topology& topology) {
  const Shape& shape = topology.shape();
  const double n = topology.processors();
  if (is_grid(shape)) return grid_distances(shape, n);
  if (is_tree(shape)) return tree_distances(tree_sizes(shape), n);
  Distances distances;
  switch (shape.kind) {
    case TopologyKind::full:
    case TopologyKind::bus:
      distances.add(1, n * (n - 1));
      break;
    case TopologyKind::star:
      distances.add(1, 2 * (n - 1));
      distances.add(2, (n - 1) * (n - 2));
      break;
    case TopologyKind::crossbar:
      distances.add(2, n * (n - 1));
      break;
    case TopologyKind::omega:
      distances.add(std::countr_zero(static_cast<unsigned>(shape.sizes[0])) + 1, n * (n - 1));
      break;
    default:
      return dragonfly_routes(shape);
  }
  return distances;
}

// Every group of a dragonfly looks the same (the arrangement is invariant under
// rotation), and so do the processors at one router: one processor of each
// router of group 0 stands for all. Two links between groups can be shorter
// than local, global, local: routes are not always minimal.
Distances dragonfly_distances(const Topology& topology) {
  Distances distances;
  const int p = topology.shape().sizes[2];
  for (int router = 0; router < topology.shape().sizes[0]; ++router) {
    const int source = router * p;
    const std::vector<int> hops = hops_from(topology.graph(), source);
    for (int to = 0; to < topology.processors(); ++to)
      if (to != source) distances.add(hops[static_cast<std::size_t>(to)], 1);
  }
  return distances;
}

constexpr std::size_t kExamples = 8;

void note_unreachable(TopologyProperties& properties, int from, const std::vector<int>& hops,
                      int processors) {
  Unreachable row{NodeId(from), 0, {}};
  for (int to = 0; to < processors; ++to) {
    if (hops[static_cast<std::size_t>(to)] != kUnreachable) continue;
    ++row.count;
    if (row.examples.size() < kExamples) row.examples.emplace_back(to);
  }
  if (row.count == 0) return;
  properties.connected = false;
  properties.unreachable_pairs += row.count;
  if (properties.unreachable.size() < kExamples) properties.unreachable.push_back(std::move(row));
}

// Everybody is reached from everybody exactly if processor 0 reaches all and
// all reach it.
bool strongly_connected(const Topology& topology) {
  const auto all = [&](const std::vector<int>& hops) {
    return std::none_of(hops.begin(), hops.begin() + topology.processors(),
                        [](int h) { return h == kUnreachable; });
  };
  return all(hops_from(topology.graph(), 0)) &&
         all(hops_to(topology.graph(), IncomingLinks(topology.graph()), 0));
}

void search_distances(const Topology& topology, TopologyProperties& properties) {
  // Steps of a search from everywhere; above this, some processors stand for
  // all, evenly spread over the numbers.
  constexpr double kSteps = 1e9;
  const int processors = topology.processors();
  const double steps = static_cast<double>(topology.nodes()) + topology.links();
  int sources = processors;
  if (steps * processors > kSteps) {
    sources = std::clamp(static_cast<int>(kSteps / steps), 8, processors);
    properties.distances = Finding::sampled;
    properties.sampled_sources = sources;
  }
  properties.connected = strongly_connected(topology);
  Distances distances;
  for (int i = 0; i < sources; ++i) {
    const int source = static_cast<int>(std::int64_t{i} * processors / sources);
    const std::vector<int> hops = hops_from(topology.graph(), source);
    for (int to = 0; to < processors; ++to) {
      const int distance = hops[static_cast<std::size_t>(to)];
      if (to != source && distance != kUnreachable) distances.add(distance, 1);
    }
    if (!properties.connected) note_unreachable(properties, source, hops, processors);
  }
  properties.diameter = properties.longest_route = distances.greatest;
  properties.mean_distance = properties.mean_route = distances.mean();
}

DegreeRange degree_range(const TopologyGraph& graph, int begin, int end) {
  if (begin == end) return {};
  DegreeRange range{graph.first(begin + 1) - graph.first(begin), 0};
  for (int node = begin; node < end; ++node) {
    const int degree = graph.first(node + 1) - graph.first(node);
    range.min = std::min(range.min, degree);
    range.max = std::max(range.max, degree);
  }
  return range;
}

}  // namespace

TopologyProperties properties_of(const Topology& topology) {
  TopologyProperties properties;
  const TopologyGraph& graph = topology.graph();
  properties.processor_degree = degree_range(graph, 0, topology.processors());
  properties.switch_degree = degree_range(graph, topology.processors(), topology.nodes());
  properties.bisection = bisection_of(topology);
  if (topology.shape().kind == TopologyKind::arbitrary) {
    search_distances(topology, properties);
    return properties;
  }
  const Distances routes = formula_distances(topology);
  const Distances distances =
      topology.shape().kind == TopologyKind::dragonfly ? dragonfly_distances(topology) : routes;
  properties.diameter = distances.greatest;
  properties.mean_distance = distances.mean();
  properties.longest_route = routes.greatest;
  properties.mean_route = routes.mean();
  // The sums are over all pairs and over those of one group: compare means.
  properties.routes_minimal = routes.mean() - distances.mean() < 1e-9;
  return properties;
}

}  // namespace foretrace::machine
