#include "topology/builders.hpp"

#include <filesystem>
#include <limits>

#include "topology/file.hpp"

namespace foretrace::machine {
namespace {

using Links = std::vector<GraphLink>;

void add_pair(Links& links, int a, int b) {
  links.push_back({a, b, 0});
  links.push_back({b, a, 0});
}

Links grid_links(const Shape& shape, int nodes) {
  Links links;
  const std::vector<int> sides = grid_sides(shape);
  int stride = 1;
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    for (int node = 0; node < nodes; ++node) {
      const int x = node / stride % *side;
      if (x + 1 < *side)
        add_pair(links, node, node + stride);
      else if (grid_wraps(shape) && *side > 2)
        add_pair(links, node, node - x * stride);
    }
    stride *= *side;
  }
  return links;
}

// XGFT: the nodes of a level are numbered subtree by subtree, within it copy by
// copy; the parents of (subtree, copy) are the copies copy + i*copies of the
// subtree's parent, i < w.
Links tree_links(const TreeSizes& sizes, int processors) {
  Links links;
  int first = 0;
  int subtrees = processors;
  int copies = 1;
  for (std::size_t level = 0; level < sizes.m.size(); ++level) {
    const int first_above = first + subtrees * copies;
    const int copies_above = copies * sizes.w[level];
    for (int subtree = 0; subtree < subtrees; ++subtree)
      for (int copy = 0; copy < copies; ++copy)
        for (int i = 0; i < sizes.w[level]; ++i)
          add_pair(links, first + subtree * copies + copy,
                   first_above + subtree / sizes.m[level] * copies_above + copy + i * copies);
    first = first_above;
    subtrees /= sizes.m[level];
    copies = copies_above;
  }
  return links;
}

// Perfect shuffle before every stage: line b(n-1)..b0 goes on as b(n-2)..b0 b(n-1).
Links omega_links(int processors) {
  Links links;
  int stages = 0;
  while (1 << stages < processors) ++stages;
  const int half = processors / 2;
  for (int line = 0; line < processors; ++line) {
    const int shuffled = ((line << 1) | (line >> (stages - 1))) & (processors - 1);
    links.push_back({line, processors + shuffled / 2, 0});
    for (int stage = 0; stage + 1 < stages; ++stage)
      links.push_back({processors + stage * half + line / 2,
                       processors + (stage + 1) * half + shuffled / 2, 0});
    links.push_back({processors + (stages - 1) * half + line / 2, line, 0});
  }
  return links;
}

// Each pair of groups has one link: global link j of router i in group g leads
// to group g + i*h + j + 1 (the "palm tree" arrangement, Camarero et al. 2014).
Links dragonfly_links(const Shape& shape) {
  const int a = shape.sizes[0];
  const int h = shape.sizes[1];
  const int p = shape.sizes[2];
  const DragonflyRouter rule(a, h, p);
  const int groups = rule.groups();
  const int first = groups * a * p;
  Links links;
  for (int router = 0; router < groups * a; ++router) {
    for (int i = 0; i < p; ++i) add_pair(links, router * p + i, first + router);
    for (int other = router + 1; other / a == router / a; ++other)
      add_pair(links, first + router, first + other);
    for (int j = 0; j < h; ++j) {
      const int distance = router % a * h + j + 1;
      const int target = (router / a + distance) % groups;
      links.push_back({first + router, first + target * a + rule.gateway(groups - distance), 0});
    }
  }
  return links;
}

Links full_links(int processors) {
  Links links;
  links.reserve(static_cast<std::size_t>(processors) * static_cast<std::size_t>(processors));
  for (int a = 0; a < processors; ++a)
    for (int b = 0; b < processors; ++b)
      if (a != b) links.push_back({a, b, 0});
  return links;
}

Links hub_links(int first, int last, int hub, int speed_out) {
  Links links;
  for (int node = first; node <= last; ++node) {
    links.push_back({node, hub, 0});
    links.push_back({hub, node, speed_out});
  }
  return links;
}

Links links_of(const Shape& shape, int processors) {
  switch (shape.kind) {
    case TopologyKind::full:
      return full_links(processors);
    case TopologyKind::star:
      return hub_links(1, processors - 1, 0, 0);
    case TopologyKind::crossbar:
      return hub_links(0, processors - 1, processors, 0);
    case TopologyKind::bus:
      return hub_links(0, processors - 1, processors, 1);
    case TopologyKind::omega:
      return omega_links(processors);
    case TopologyKind::dragonfly:
      return dragonfly_links(shape);
    default:
      return is_tree(shape) ? tree_links(tree_sizes(shape), processors)
                            : grid_links(shape, processors);
  }
}

}  // namespace

Topology build_topology(const TopologySpec& spec) {
  const ShapeCounts counts = counts_of(spec.shape);
  const auto processors = static_cast<int>(counts.processors);
  const bool bus = spec.shape.kind == TopologyKind::bus;
  std::vector<NodeKind> others(static_cast<std::size_t>(counts.switches),
                               bus ? NodeKind::bus : NodeKind::switch_);
  std::vector<LinkSpeed> speeds{spec.link};
  if (bus) speeds.push_back({Time(), std::numeric_limits<double>::infinity()});
  return Topology(spec,
                  TopologyGraph(processors, std::move(others), links_of(spec.shape, processors)),
                  std::move(speeds));
}

Topology make_topology(const std::string& text) {
  std::error_code ignored;
  if (text.ends_with(".toml") || std::filesystem::is_regular_file(text, ignored))
    return read_topology_file(text);
  return build_topology(parse_topology_expression(text));
}

}  // namespace foretrace::machine
