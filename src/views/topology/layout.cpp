#include "views/topology/layout.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "views/topology/positions.hpp"

namespace foretrace::views {
namespace {

using machine::LinkId;
using machine::NodeId;
using machine::NodeKind;
using machine::Topology;
using machine::TopologyKind;

constexpr double kMargin = 40;
constexpr double kCaptionHeight = 34;

// Places links between nodes that have their positions.
class Links {
 public:
  Links(const Topology& topology, const NodePositions& positions)
      : topology_(topology), positions_(positions) {
    if (!drawn_as_grid(topology.shape())) return;
    sides_ = topology.shape().sizes;
    steps_ = grid_steps(sides_);
  }

  void add(std::vector<PlacedLine>& lines, LinkId link, bool arrow, bool on_route) const {
    const int from = topology_.from(link).value;
    const int to = topology_.to(link).value;
    PlacedLine line{start(from, to), end(from, to), {}, false, false, arrow, on_route};
    if (!sides_.empty()) {
      const auto [side, wraps] = side_between(from, to);
      if (wraps) {
        add_stubs(lines, line, steps_[side].step, from > to);
        return;
      }
      if (steps_[side].far) bend(line);
    }
    // Between the copies of a cube within a cube.
    if (topology_.shape().kind == TopologyKind::hypercube && (from ^ to) >= 16) bend(line);
    lines.push_back(shortened(line, to));
  }

 private:
  Point start(int from, int to) const { return towards_bus(from, to, place(from)); }
  Point end(int from, int to) const {
    if (to < topology_.processors() && !positions_.exits.empty())
      return positions_.exits[static_cast<std::size_t>(to)];
    return towards_bus(to, from, place(to));
  }
  Point place(int node) const { return positions_.nodes[static_cast<std::size_t>(node)]; }

  // Links meet a long bus where the processor hangs.
  Point towards_bus(int node, int other, Point at) const {
    if (positions_.bus_half_width > 0 && topology_.kind(NodeId(node)) == NodeKind::bus)
      return {place(other).x, at.y};
    return at;
  }

  // Which side of a grid a link runs along, and whether around its end.
  std::pair<std::size_t, bool> side_between(int from, int to) const {
    for (std::size_t d = sides_.size(); d-- > 0;) {
      const int x = from % sides_[d];
      const int y = to % sides_[d];
      if (x != y) return {d, std::abs(x - y) > 1};
      from /= sides_[d];
      to /= sides_[d];
    }
    return {0, false};
  }

  static void add_stubs(std::vector<PlacedLine>& lines, PlacedLine line, Point step, bool rising) {
    constexpr double kStub = 2.1 * kNodeRadius;
    const double length = std::hypot(step.x, step.y) * (rising ? 1 : -1);
    const Point out{step.x / length * kStub, step.y / length * kStub};
    line.stub = true;
    PlacedLine leaving = line;
    leaving.to = {line.from.x + out.x, line.from.y + out.y};
    line.from = {line.to.x - out.x, line.to.y - out.y};
    // Both ends of a link are drawn alike; an arrow shows at the second only.
    leaving.arrow = false;
    lines.push_back(leaving);
    if (line.arrow) line.to = {line.to.x - out.x / 2.1, line.to.y - out.y / 2.1};
    lines.push_back(line);
  }

  static void bend(PlacedLine& line) {
    const Point middle{(line.from.x + line.to.x) / 2, (line.from.y + line.to.y) / 2};
    const double dx = line.to.x - line.from.x;
    const double dy = line.to.y - line.from.y;
    // Always to the same side, whichever way the link is drawn.
    const double sign = dx > 0 || (dx == 0 && dy > 0) ? 1 : -1;
    line.bend = {middle.x + 0.14 * sign * dy, middle.y - 0.14 * sign * dx};
    line.curved = true;
  }

  // An arrow ends at the symbol's edge, not at its middle.
  PlacedLine shortened(PlacedLine line, int to) const {
    if (!line.arrow) return line;
    const Point origin = line.curved ? line.bend : line.from;
    const double dx = line.to.x - origin.x;
    const double dy = line.to.y - origin.y;
    const double length = std::hypot(dx, dy);
    const bool bar = positions_.bus_half_width > 0 && topology_.kind(NodeId(to)) == NodeKind::bus;
    const double off = bar ? 6 : kNodeRadius;
    if (length > off) line.to = {line.to.x - dx / length * off, line.to.y - dy / length * off};
    return line;
  }

  const Topology& topology_;
  const NodePositions& positions_;
  std::vector<int> sides_;
  std::vector<GridStep> steps_;
};

void check_size(const Topology& topology) {
  if (topology.processors() <= kMostDrawnProcessors && topology.nodes() <= kMostDrawnNodes) return;
  throw UsageError(
      "a picture of " + std::to_string(topology.processors()) + " processors and " +
      std::to_string(topology.switches()) +
      " switches would not be readable; draw a smaller one of its kind, with at most " +
      std::to_string(kMostDrawnProcessors) + " processors and " + std::to_string(kMostDrawnNodes) +
      " nodes, or leave out -o");
}

std::vector<PlacedLine> place_links(const Topology& topology, const NodePositions& positions,
                                    const std::vector<LinkId>& route) {
  const Links links(topology, positions);
  std::vector<PlacedLine> lines;
  for (int l = 0; l < topology.links(); ++l) {
    const LinkId link(l);
    const int from = topology.from(link).value;
    const int to = topology.to(link).value;
    const bool both_ways = topology.graph().find(to, from) >= 0;
    // Omega runs from left to right; an arrow on every link says nothing.
    const bool arrow = !both_ways && positions.exits.empty();
    if (!both_ways || from < to) links.add(lines, link, arrow, false);
  }
  for (LinkId link : route) links.add(lines, link, true, true);
  return lines;
}

PlacedNode place_node(const Topology& topology, NodeId node, Point at, double bus_half_width) {
  PlacedNode placed{at, topology.kind(node), kNodeRadius, topology.node_name(node), false, false};
  if (placed.kind == NodeKind::bus)
    placed.half_width = bus_half_width > 0 ? bus_half_width : 2 * kNodeRadius;
  // Only names from a file tell a person more than the symbol does.
  if (placed.kind != NodeKind::processor && topology.shape().kind != TopologyKind::arbitrary)
    placed.label.clear();
  placed.label_below = placed.label.size() > 3;
  return placed;
}

std::vector<PlacedNode> all_nodes(const Topology& topology, const NodePositions& positions,
                                  const std::vector<LinkId>& route) {
  std::vector<PlacedNode> nodes;
  for (int i = 0; i < topology.nodes(); ++i)
    nodes.push_back(place_node(topology, NodeId(i), positions.nodes[static_cast<std::size_t>(i)],
                               positions.bus_half_width));
  for (LinkId link : route) {
    nodes[static_cast<std::size_t>(topology.from(link).value)].on_route = true;
    if (positions.exits.empty())
      nodes[static_cast<std::size_t>(topology.to(link).value)].on_route = true;
  }
  if (!positions.exits.empty() && !route.empty()) {
    for (std::size_t i = 1; i < route.size(); ++i)
      nodes[static_cast<std::size_t>(topology.from(route[i]).value)].on_route = true;
  }
  for (std::size_t i = 0; i < positions.exits.size(); ++i) {
    PlacedNode exit = place_node(topology, NodeId(static_cast<int>(i)), positions.exits[i], 0);
    exit.on_route = !route.empty() && topology.to(route.back()).value == static_cast<int>(i);
    nodes.push_back(exit);
  }
  return nodes;
}

// Moves everything so that it begins at the margin.
void fit_paper(TopologyPicture& picture) {
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const PlacedNode& node : picture.nodes) {
    left = std::min(left, node.at.x - node.half_width);
    right = std::max(right, node.at.x + node.half_width);
    top = std::min(top, node.at.y);
    bottom = std::max(bottom, node.at.y);
  }
  for (const PlacedLine& line : picture.lines) {
    if (!line.curved) continue;
    top = std::min(top, (line.bend.y + (line.from.y + line.to.y) / 2) / 2);
    left = std::min(left, (line.bend.x + (line.from.x + line.to.x) / 2) / 2);
  }
  const Point shift{kMargin - left, kMargin - top};
  const auto move = [shift](Point& p) { p = {p.x + shift.x, p.y + shift.y}; };
  for (PlacedNode& node : picture.nodes) move(node.at);
  for (PlacedLine& line : picture.lines) {
    move(line.from);
    move(line.to);
    move(line.bend);
  }
  // Wide enough for the caption, at about 7 pixels a letter.
  picture.width = std::max(right - left + 2 * kMargin, 7. * double(picture.caption.size()) + 40);
  picture.height = bottom - top + 2 * kMargin + kCaptionHeight;
  const double slack = (picture.width - (right - left + 2 * kMargin)) / 2;
  for (PlacedNode& node : picture.nodes) node.at.x += slack;
  for (PlacedLine& line : picture.lines) {
    line.from.x += slack;
    line.to.x += slack;
    line.bend.x += slack;
  }
}

}  // namespace

TopologyPicture lay_out_topology(const Topology& topology, const std::vector<LinkId>& route) {
  check_size(topology);
  const NodePositions positions = place_nodes(topology);
  TopologyPicture picture;
  const auto count = [](int n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : what[0] == 's' ? "es" : "s");
  };
  picture.caption = topology.name() + ": " + count(topology.processors(), "processor");
  if (topology.switches() > 0 && !topology.graph().has_bus())
    picture.caption += ", " + count(topology.switches(), "switch");
  picture.lines = place_links(topology, positions, route);
  picture.nodes = all_nodes(topology, positions, route);
  fit_paper(picture);
  return picture;
}

}  // namespace foretrace::views
