#include "views/topology/svg.hpp"

#include <fmt/format.h>
#include <cmath>

#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

using machine::NodeKind;

constexpr const char* kStyle = R"(<style>
  .paper { fill: #ffffff; }
  .link { fill: none; stroke: #8a94a3; stroke-width: 1.4; }
  .stub { stroke-dasharray: 3 2; }
  .node { fill: #dbe8fb; stroke: #2f5fa8; stroke-width: 1.4; }
  .switch { fill: #e9e9ec; stroke: #5c6470; stroke-width: 1.4; }
  .route { stroke: #d1480a; stroke-width: 2.8; }
  .node.route, .switch.route { fill: #ffe2cf; stroke-width: 2; }
  .head { fill: #8a94a3; }
  .head.route { fill: #d1480a; stroke: none; }
  text { font: 11px sans-serif; fill: #14181f; text-anchor: middle; }
  .caption { font-size: 13px; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181d; }
    .link { stroke: #717b8a; }
    .node { fill: #1f3556; stroke: #7fa9ea; }
    .switch { fill: #30343b; stroke: #a3abb7; }
    .route { stroke: #ff9457; }
    .node.route, .switch.route { fill: #5a2f17; }
    .head { fill: #717b8a; }
    .head.route { fill: #ff9457; }
    text { fill: #e6e9ee; }
  }
</style>
)";

// A tenth of a pixel; never "-0.0".
std::string number(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

std::string point(Point p) {
  return number(p.x) + " " + number(p.y);
}

// A small triangle whose tip is the line's end.
std::string arrow_head(const PlacedLine& line) {
  const Point origin = line.curved ? line.bend : line.from;
  const double dx = line.to.x - origin.x;
  const double dy = line.to.y - origin.y;
  const double length = std::hypot(dx, dy);
  if (length == 0) return "";
  const Point along{dx / length, dy / length};
  const Point back{line.to.x - 9 * along.x, line.to.y - 9 * along.y};
  const Point left{back.x - 4 * along.y, back.y + 4 * along.x};
  const Point right{back.x + 4 * along.y, back.y - 4 * along.x};
  return fmt::format("<path class=\"head{}\" d=\"M{} L{} L{} Z\"/>\n",
                     line.on_route ? " route" : "", point(line.to), point(left), point(right));
}

std::string draw_line(const PlacedLine& line) {
  std::string path = "M" + point(line.from);
  path += line.curved ? " Q" + point(line.bend) + " " : " L";
  path += point(line.to);
  std::string out = fmt::format("<path class=\"link{}{}\" d=\"{}\"/>\n", line.stub ? " stub" : "",
                                line.on_route ? " route" : "", path);
  if (line.arrow) out += arrow_head(line);
  return out;
}

std::string draw_node(const PlacedNode& node) {
  const char* route = node.on_route ? " route" : "";
  std::string out;
  if (node.kind == NodeKind::processor) {
    out = fmt::format("<circle class=\"node{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", route,
                      number(node.at.x), number(node.at.y), number(node.half_width));
  } else {
    const bool bus = node.kind == NodeKind::bus;
    const double half_height = bus ? 5 : node.half_width - 2;
    const double half_width = bus ? node.half_width : node.half_width - 2;
    out = fmt::format(
        "<rect class=\"switch{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n",
        route, number(node.at.x - half_width), number(node.at.y - half_height),
        number(2 * half_width), number(2 * half_height), number(bus ? 4 : 2));
  }
  if (!node.label.empty())
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", number(node.at.x),
                       number(node.at.y + (node.label_below ? 26 : 4)), escape_html(node.label));
  return out;
}

}  // namespace

std::string render_topology_svg(const TopologyPicture& picture) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n",
      std::ceil(picture.width), std::ceil(picture.height), escape_html(picture.caption));
  out += kStyle;
  out += "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
  for (const PlacedLine& line : picture.lines) out += draw_line(line);
  for (const PlacedNode& node : picture.nodes) out += draw_node(node);
  out += fmt::format("<text class=\"caption\" x=\"{}\" y=\"{}\">{}</text>\n</svg>\n",
                     number(picture.width / 2), number(picture.height - 20),
                     escape_html(picture.caption));
  return out;
}

}  // namespace foretrace::views
