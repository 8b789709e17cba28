#include "architecture/layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace foretrace::architecture {
namespace {

constexpr double kPi = 3.14159265358979323846;

Region centred(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, width, height};
}

// Levels from below: processors, then switches by the fewest hops to a processor.
std::vector<int> levels_of(const machine::Topology& topology) {
  const machine::TopologyGraph& graph = topology.graph();
  std::vector<int> level(static_cast<std::size_t>(topology.nodes()), -1);
  std::vector<int> queue;
  for (int p = 0; p < topology.processors(); ++p) {
    level[static_cast<std::size_t>(p)] = 0;
    queue.push_back(p);
  }
  const machine::IncomingLinks incoming(graph);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto visit = [&](int node) {
      if (level[static_cast<std::size_t>(node)] >= 0) return;
      level[static_cast<std::size_t>(node)] = level[static_cast<std::size_t>(queue[i])] + 1;
      queue.push_back(node);
    };
    for (int l = graph.first(queue[i]); l < graph.first(queue[i] + 1); ++l) visit(graph.to(l));
  }
  return level;
}

void place_levels(const machine::Topology& topology, const Region& region,
                  std::vector<Region>& places) {
  const std::vector<int> level = levels_of(topology);
  const int most = *std::ranges::max_element(level);
  std::vector<int> width(static_cast<std::size_t>(most + 1), 0), seen(width);
  for (const int l : level) ++width[static_cast<std::size_t>(std::max(0, l))];
  for (std::size_t node = 0; node < level.size(); ++node) {
    const auto l = static_cast<std::size_t>(std::max(0, level[node]));
    const double cell = region.width / width[l];
    const double row = region.height / (most + 1);
    places[node] = {region.x + seen[l]++ * cell, region.y + (most - static_cast<double>(l)) * row,
                    cell, row};
  }
}

void place_grid(const machine::Topology& topology, const Region& region,
                std::vector<Region>& places) {
  std::vector<int> sides = machine::grid_sides(topology.shape());
  // The dimensions in turn across and down; those after the first two as blocks beside each other.
  int across = 1;
  int down = 1;
  std::vector<int> stride(sides.size());
  for (std::size_t i = sides.size(); i-- > 0;) {
    int& extent = (sides.size() - 1 - i) % 2 == 0 ? across : down;
    stride[i] = extent;
    extent *= sides[i];
  }
  const double width = region.width / across;
  const double height = region.height / down;
  for (int node = 0; node < topology.processors(); ++node) {
    int rest = node;
    int x = 0;
    int y = 0;
    for (std::size_t i = sides.size(); i-- > 0;) {
      ((sides.size() - 1 - i) % 2 == 0 ? x : y) += rest % sides[i] * stride[i];
      rest /= sides[i];
    }
    places[static_cast<std::size_t>(node)] = {region.x + x * width, region.y + y * height, width,
                                              height};
  }
}

void place_circle(const machine::Topology& topology, const Region& region,
                  std::vector<Region>& places) {
  const int processors = topology.processors();
  const double cell = std::min(region.width, region.height) * kPi / std::max(8, processors + 4);
  for (int node = 0; node < topology.nodes(); ++node) {
    const bool inner = node >= processors;
    const int count = inner ? topology.nodes() - processors : processors;
    const double radius = inner ? (count == 1 ? 0 : 0.22) : 0.44;
    const double angle = 2 * kPi * (inner ? node - processors : node) / count - kPi / 2;
    places[static_cast<std::size_t>(node)] =
        centred(region.x + region.width * (0.5 + radius * std::cos(angle)),
                region.y + region.height * (0.5 + radius * std::sin(angle)), cell, cell);
  }
}

}  // namespace

Region cell_of(const Region& region, int number, int count) {
  if (count <= 1) return region;
  const int columns = static_cast<int>(std::ceil(std::sqrt(count)));
  const int rows = (count + columns - 1) / columns;
  const double width = region.width / columns;
  const double height = region.height / rows;
  return {region.x + number % columns * width, region.y + number / columns * height, width, height};
}

Region part_of(const Region& region, const Region& part) {
  return {region.x + part.x * region.width, region.y + part.y * region.height,
          part.width * region.width, part.height * region.height};
}

std::vector<Region> regions_of(const Composite& composite, const Region& region) {
  const int count = static_cast<int>(composite.parts.size());
  std::vector<Region> regions;
  const bool placed =
      std::ranges::all_of(composite.parts, [](const Part& p) { return p.x && p.y; });
  for (int i = 0; i < count; ++i) {
    const Part& part = composite.parts[static_cast<std::size_t>(i)];
    if (!placed) {
      regions.push_back(cell_of(region, i, count));
      continue;
    }
    // Its author's coordinates, stretched over the region.
    double left = *composite.parts[0].x, right = left, top = *composite.parts[0].y, bottom = top;
    for (const Part& other : composite.parts) {
      left = std::min(left, *other.x);
      right = std::max(right, *other.x);
      top = std::min(top, *other.y);
      bottom = std::max(bottom, *other.y);
    }
    const double columns = std::max(1.0, std::ceil(std::sqrt(count)));
    const double width = region.width / (columns + 1);
    const double height = region.height / (columns + 1);
    const double fx = right > left ? (*part.x - left) / (right - left) : 0.5;
    const double fy = bottom > top ? (*part.y - top) / (bottom - top) : 0.5;
    regions.push_back({region.x + fx * (region.width - width),
                       region.y + fy * (region.height - height), width, height});
  }
  return regions;
}

std::vector<Region> place_topology(const machine::Topology& topology, const Region& region) {
  std::vector<Region> places(static_cast<std::size_t>(topology.nodes()), region);
  const machine::Shape& shape = topology.shape();
  if (machine::is_grid(shape) && shape.kind != machine::TopologyKind::ring)
    place_grid(topology, region, places);
  else if (machine::is_tree(shape) || shape.kind == machine::TopologyKind::omega)
    place_levels(topology, region, places);
  else
    place_circle(topology, region, places);
  return places;
}

}  // namespace foretrace::architecture
