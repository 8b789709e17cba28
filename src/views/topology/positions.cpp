#include "views/topology/positions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace foretrace::views {
namespace {

using machine::Shape;
using machine::Topology;
using machine::TopologyKind;

// On a circle, clockwise; turn 0 is the top.
Point on_circle(Point centre, double radius, double turn) {
  const double angle = 2 * std::numbers::pi * turn;
  return {centre.x + radius * std::sin(angle), centre.y - radius * std::cos(angle)};
}

double radius_for(int nodes, double spacing, double least) {
  return std::max(least, nodes * spacing / (2 * std::numbers::pi));
}

// `shift` of a place beyond the top.
std::vector<Point> circle(int nodes, double radius, double shift) {
  std::vector<Point> points;
  for (int i = 0; i < nodes; ++i) points.push_back(on_circle({}, radius, (i + shift) / nodes));
  return points;
}

double processors_radius(int nodes) {
  return radius_for(nodes, 44, 70);
}

// Processors around, the others within, each before its share of the processors.
std::vector<Point> circles(const Topology& topology) {
  const int inner = topology.switches();
  const double outside = processors_radius(topology.processors());
  const double inside = inner == 1 ? 0 : radius_for(inner, 60, 0.45 * outside);
  const double shift = inner > 1 ? 0.5 : 0;
  std::vector<Point> points =
      circle(topology.processors(), inner > 0 ? std::max(outside, inside + 50) : outside, shift);
  const std::vector<Point> others = circle(inner, inside, 0.5);
  points.insert(points.end(), others.begin(), others.end());
  return points;
}

// Back and forth in rows, so that every link is short.
std::vector<Point> snake(int nodes) {
  constexpr int kRow = 16;
  std::vector<Point> points;
  for (int i = 0; i < nodes; ++i) {
    const int row = i / kRow;
    const int column = row % 2 == 0 ? i % kRow : kRow - 1 - i % kRow;
    points.push_back({48. * column, 48. * row});
  }
  return points;
}

std::vector<Point> star(int nodes) {
  std::vector<Point> points = circle(nodes - 1, processors_radius(nodes - 1), 0);
  points.insert(points.begin(), Point{});
  return points;
}

NodePositions bus(int processors) {
  NodePositions positions;
  for (int i = 0; i < processors; ++i)
    positions.nodes.push_back({40. * i, i % 2 == 0 ? -55. : 55.});
  positions.nodes.push_back({20. * (processors - 1), 0});
  positions.bus_half_width = 20. * (processors - 1) + 24;
  return positions;
}

std::vector<Point> grid(const std::vector<int>& sides, int nodes) {
  const std::vector<GridStep> steps = grid_steps(sides);
  std::vector<Point> points;
  for (int node = 0; node < nodes; ++node) {
    Point point;
    int rest = node;
    for (std::size_t d = sides.size(); d-- > 0; rest /= sides[d]) {
      point.x += rest % sides[d] * steps[d].step.x;
      point.y += rest % sides[d] * steps[d].step.y;
    }
    points.push_back(point);
  }
  return points;
}

// Bits 0 to 2 are a cube (or a square, or a line), bit 3 a smaller cube within
// it, bits 4 and 5 copies to the right and below.
std::vector<Point> hypercube(int dimension) {
  const double side = dimension >= 4 ? 270 : 120;
  const Point depth = dimension >= 4 ? Point{160, -60} : Point{56, -44};
  std::vector<Point> points;
  for (int node = 0; node < 1 << dimension; ++node) {
    const auto bit = [node](int b) { return node >> b & 1; };
    Point p{side * bit(0) + depth.x * bit(2), side * bit(1) + depth.y * bit(2)};
    if (bit(3)) {
      const Point centre{(side + depth.x) / 2, (side + depth.y) / 2};
      // Chosen with the depth so that no node touches another or a foreign link.
      constexpr double kInner = 0.46;
      p = {centre.x + kInner * (p.x - centre.x), centre.y + kInner * (p.y - centre.y)};
    }
    points.push_back({p.x + bit(4) * (side + depth.x + 70), p.y + bit(5) * (side - depth.y + 70)});
  }
  return points;
}

std::vector<Point> tree(const Topology& topology) {
  const machine::TreeSizes sizes = machine::tree_sizes(topology.shape());
  std::vector<int> counts{topology.processors()};
  int copies = 1;
  int subtrees = topology.processors();
  for (std::size_t level = 0; level < sizes.m.size(); ++level) {
    copies *= sizes.w[level];
    subtrees /= sizes.m[level];
    counts.push_back(copies * subtrees);
  }
  const double width = 34. * std::max(4, *std::ranges::max_element(counts));
  const double rise = std::clamp(width / 7, 70., 240.);
  std::vector<Point> points;
  for (std::size_t level = 0; level < counts.size(); ++level)
    for (int i = 0; i < counts[level]; ++i)
      points.push_back({width * (i + 0.5) / counts[level], -rise * double(level)});
  return points;
}

// Processors left, the stages, and the processors again at the right.
NodePositions omega(int processors) {
  NodePositions positions;
  int stages = 0;
  while (1 << stages < processors) ++stages;
  const double step = std::max(90., 6. * processors);
  for (int i = 0; i < processors; ++i) {
    positions.nodes.push_back({0, 32. * i});
    positions.exits.push_back({step * (stages + 1), 32. * i});
  }
  for (int stage = 0; stage < stages; ++stage)
    for (int i = 0; i < processors / 2; ++i)
      positions.nodes.push_back({step * (stage + 1), 64. * i + 16});
  return positions;
}

// Groups around a circle; in each the routers around a smaller one, their
// processors outside them.
std::vector<Point> dragonfly(const Shape& shape) {
  const int a = shape.sizes[0];
  const int p = shape.sizes[2];
  const int groups = a * shape.sizes[1] + 1;
  const double routers = a == 1 ? 0 : radius_for(a, 44, 26);
  const double processors = std::max(routers + 36, radius_for(a * p, 31, 0));
  const double ring = radius_for(groups, 2 * (processors + 26), 2 * processors);
  std::vector<Point> points;
  const auto place = [&](int group, double radius, double turn) {
    const double facing = double(group) / groups;
    points.push_back(on_circle(on_circle({}, ring, facing), radius, facing + turn));
  };
  for (int i = 0; i < groups * a * p; ++i)
    place(i / (a * p), processors, (i % (a * p) + 0.5) / (a * p));
  for (int i = 0; i < groups * a; ++i) place(i / a, routers, (i % a + 0.5) / a);
  return points;
}

}  // namespace

bool drawn_as_grid(const Shape& shape) {
  return (shape.kind == TopologyKind::mesh || shape.kind == TopologyKind::torus) &&
         shape.sizes.size() > 1;
}

// The last two sides are columns and rows; the third is depth, drawn aslant so
// that no node hides another; further ones are copies to the right and below
// in turn.
std::vector<GridStep> grid_steps(const std::vector<int>& sides) {
  constexpr Point kDepth{27, -21};
  const std::size_t n = sides.size();
  std::vector<GridStep> steps(n);
  const int planes = n > 2 ? sides[n - 3] : 1;
  Point extent{planes > 1 ? kDepth.x * planes + 12 : 56, planes > 1 ? -kDepth.y * planes + 12 : 56};
  steps[n - 1].step = {extent.x, 0};
  if (n > 1) steps[n - 2].step = {0, extent.y};
  if (n > 2) steps[n - 3].step = kDepth;
  extent = {extent.x * sides[n - 1] + 40, extent.y * (n > 1 ? sides[n - 2] : 1) + 40};
  for (std::size_t d = 3; d < n; ++d) {
    GridStep& step = steps[n - 1 - d];
    step.far = true;
    if (d % 2 == 1) {
      step.step = {extent.x, 0};
      extent.x *= sides[n - 1 - d];
    } else {
      step.step = {0, extent.y};
      extent.y *= sides[n - 1 - d];
    }
  }
  return steps;
}

NodePositions place_nodes(const Topology& topology) {
  const Shape& shape = topology.shape();
  const int processors = topology.processors();
  if (drawn_as_grid(shape)) return {grid(shape.sizes, processors), {}, 0};
  if (machine::is_tree(shape)) return {tree(topology), {}, 0};
  switch (shape.kind) {
    case TopologyKind::array:
    case TopologyKind::mesh:
      return {snake(processors), {}, 0};
    case TopologyKind::star:
      return {star(processors), {}, 0};
    case TopologyKind::bus:
      return bus(processors);
    case TopologyKind::hypercube:
      return {hypercube(shape.sizes[0]), {}, 0};
    case TopologyKind::omega:
      return omega(processors);
    case TopologyKind::dragonfly:
      return {dragonfly(shape), {}, 0};
    default:
      return {circles(topology), {}, 0};
  }
}

}  // namespace foretrace::views
