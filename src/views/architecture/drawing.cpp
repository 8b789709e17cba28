#include "views/architecture/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

using architecture::FlatArchitecture;
using architecture::FlatEntity;

constexpr double kWidth = 720, kHeight = 420, kMargin = 34, kKey = 26;
constexpr std::size_t kMostNames = 24;

constexpr const char* kStyle = R"(<style>
  .paper { fill: #ffffff; }
  .link { stroke: #8a94a3; }
  .box { fill: none; stroke: #8a94a3; stroke-dasharray: 4 3; }
  .processor { fill: #2f5fa8; }
  .switch { fill: #2b7a4b; }
  .bus { fill: #b4500f; }
  .nic { fill: #8a3fa0; }
  .memory { fill: #7a6a12; }
  .other { fill: #5d6673; }
  text { font: 11px sans-serif; fill: #14181f; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181d; }
    .link, .box { stroke: #717b8a; }
    .processor { fill: #7fa9ea; }
    .switch { fill: #6cc892; }
    .bus { fill: #ff9c5e; }
    .nic { fill: #cf93e2; }
    .memory { fill: #d3bf55; }
    .other { fill: #98a2b0; }
    text { fill: #e6e9ee; }
  }
</style>
)";

struct Place {
  double x = 0, y = 0;
};

std::vector<Place> places_of(const FlatArchitecture& architecture) {
  std::vector<Place> places;
  for (const FlatEntity& entity : architecture.entities)
    places.push_back({kMargin + entity.x * (kWidth - 2 * kMargin),
                      kMargin + entity.y * (kHeight - 2 * kMargin)});
  return places;
}

const char* class_of(const FlatEntity& entity) {
  const std::string_view kind = entity.behaviour_name();
  if (entity.is_bus()) return "bus";
  if (kind == "processor") return "processor";
  if (kind == "switch" || kind == "omega-element") return "switch";
  if (kind == "nic") return "nic";
  if (kind == "memory" || kind == "cache") return "memory";
  return "other";
}

// From blue to red, and wider.
std::string stroke(double share) {
  return fmt::format(" style=\"stroke:hsl({} 75% 48%)\" stroke-width=\"{:.1f}\"",
                     static_cast<int>(std::lround(220 * (1 - share))), 1.5 + 6 * share);
}

std::string draw_links(const FlatArchitecture& architecture, const std::vector<Place>& places,
                       const std::vector<double>& busy) {
  const double most = busy.empty() ? 0 : std::ranges::max(busy);
  std::string svg;
  for (std::size_t l = 0; l < architecture.links.size(); ++l) {
    const auto from = static_cast<std::size_t>(architecture.links[l].from.entity);
    const auto to = static_cast<std::size_t>(architecture.links[l].to.entity);
    const double share = busy.empty() ? 0 : busy[l];
    svg += fmt::format(
        "<line class=\"link\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}>"
        "<title>{} - {}{}</title></line>\n",
        places[from].x, places[from].y, places[to].x, places[to].y,
        share > 0 ? stroke(share / most) : " stroke-width=\"1.2\"",
        escape_html(architecture.entities[from].path), escape_html(architecture.entities[to].path),
        busy.empty() ? "" : fmt::format(": busy {:.1f} %", 100 * share));
  }
  return svg;
}

// Round what lies in each composite but the whole.
std::string draw_boxes(const FlatArchitecture& architecture, const std::vector<Place>& places,
                       double size) {
  std::string svg;
  for (std::size_t b = 1; b < architecture.boxes.size(); ++b) {
    Place low{kWidth, kHeight}, high{0, 0};
    int inside = 0;
    for (std::size_t e = 0; e < places.size(); ++e) {
      int box = architecture.entities[e].box;
      while (box > static_cast<int>(b))
        box = architecture.boxes[static_cast<std::size_t>(box)].parent;
      if (box != static_cast<int>(b)) continue;
      ++inside;
      low = {std::min(low.x, places[e].x), std::min(low.y, places[e].y)};
      high = {std::max(high.x, places[e].x), std::max(high.y, places[e].y)};
    }
    if (inside < 2) continue;
    const double room = size * 0.8;
    svg += fmt::format(
        "<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"4\"><title>{}</title></rect>\n",
        low.x - room, low.y - room, high.x - low.x + 2 * room, high.y - low.y + 2 * room,
        escape_html(architecture.boxes[b].path));
  }
  return svg;
}

std::string draw_entity(const FlatEntity& entity, Place at, double size) {
  const char* kind = class_of(entity);
  const std::string title = fmt::format("<title>{}: {}, level {}</title>", escape_html(entity.path),
                                        escape_html(entity.behaviour_name()), entity.level);
  if (std::string_view(kind) == "switch" || std::string_view(kind) == "other")
    return fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n", kind, at.x,
        at.y, size / 2, title);
  const double width = entity.is_bus() ? size * 3 : size;
  const double height = entity.behaviour_name() == "processor" ? size : size * 0.6;
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>\n",
      kind, at.x - width / 2, at.y - height / 2, width, height, title);
}

std::string draw_key(const FlatArchitecture& architecture, const std::vector<double>& busy) {
  std::map<std::string, const char*> kinds;
  for (const FlatEntity& entity : architecture.entities)
    kinds.emplace(entity.behaviour_name(), class_of(entity));
  std::string svg;
  double x = kMargin;
  const double y = kHeight + kKey / 2;
  for (const auto& [name, kind] : kinds) {
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\"/>"
        "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
        kind, x, y - 9, x + 15, y, escape_html(name));
    x += 34 + 6.5 * static_cast<double>(name.size());
  }
  if (busy.empty()) return svg;
  const double most = std::ranges::max(busy);
  if (most <= 0) return svg;
  svg += fmt::format(
      "<line x1=\"{0:.0f}\" y1=\"{1:.0f}\" x2=\"{2:.0f}\" y2=\"{1:.0f}\"{3}/>"
      "<text x=\"{4:.0f}\" y=\"{5:.0f}\">the busiest link, {6:.1f} % of the time</text>\n",
      x + 10, y - 4, x + 40, stroke(1), x + 47, y, 100 * most);
  return svg;
}

}  // namespace

std::string render_svg_architecture(const FlatArchitecture& architecture,
                                    const std::vector<double>& busy) {
  const std::vector<Place> places = places_of(architecture);
  const double count = std::max<double>(1, static_cast<double>(places.size()));
  const double size = std::clamp(0.3 * std::sqrt(kWidth * kHeight / count), 3.0, 22.0);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n<title>{2}: {3} entities, {4} links</title>\n{5}"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
      kWidth, kHeight + kKey, escape_html(architecture.name), places.size(),
      architecture.links.size(), kStyle);
  svg += draw_boxes(architecture, places, size) + draw_links(architecture, places, busy);
  for (std::size_t e = 0; e < places.size(); ++e) {
    svg += draw_entity(architecture.entities[e], places[e], size);
    if (places.size() <= kMostNames)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         places[e].x, places[e].y + size / 2 + 12,
                         escape_html(architecture.entities[e].path));
  }
  return svg + draw_key(architecture, busy) + "</svg>\n";
}

std::vector<double> busy_links(const FlatArchitecture& architecture,
                               const architecture::Recording& recording, Time end) {
  std::map<std::pair<int, int>, std::int64_t> busy;  // by ends, the smaller first
  std::map<std::pair<int, int>, bool> linked;
  std::map<int, int> bus_of;
  for (const architecture::FlatLink& link : architecture.links) {
    linked[std::minmax(link.from.entity, link.to.entity)] = true;
    for (const auto& [end_of, other] :
         {std::pair{link.from.entity, link.to.entity}, {link.to.entity, link.from.entity}})
      if (architecture.entities[static_cast<std::size_t>(other)].is_bus()) bus_of[end_of] = other;
  }
  // Of both directions the busier one; what goes through a medium is on two of its links.
  const auto add = [&](int from, int to, std::int64_t time, bool sum) {
    std::int64_t& of = busy[std::minmax(from, to)];
    of = sum ? of + time : std::max(of, time);
  };
  for (const architecture::LinkSums& one : recording.links()) {
    if (linked.contains(std::minmax(one.from, one.to))) {
      add(one.from, one.to, one.busy, false);
    } else if (bus_of.contains(one.from)) {
      add(one.from, bus_of[one.from], one.busy, true);
      add(one.to, bus_of[one.from], one.busy, true);
    }
  }
  std::vector<double> shares;
  const std::int64_t from = recording.options().from;
  const std::int64_t to = std::min(end.count_ps(), recording.options().to);
  for (const architecture::FlatLink& link : architecture.links)
    shares.push_back(static_cast<double>(busy[std::minmax(link.from.entity, link.to.entity)]) /
                     static_cast<double>(std::max<std::int64_t>(1, to - from)));
  return shares;
}

}  // namespace foretrace::views
