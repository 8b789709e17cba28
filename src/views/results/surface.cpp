#include "views/results/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "views/draw/charts.hpp"
#include "views/draw/plot_axis.hpp"

namespace foretrace::views {
namespace {

// From where it is looked at, in radians; the script below knows the same.
constexpr double kAzimuth = 0.6;
constexpr double kElevation = 0.5;
constexpr double kScale = 270;
constexpr double kRise = 0.8;  // of the upright axis
constexpr Spot kMiddle{330, 208};
constexpr double kHeight = 420;
constexpr std::size_t kMostTicks = 8;

// Unlike ratios of this are drawn on a logarithmic axis.
constexpr double kWide = 5;

constexpr const char* kScript = R"JS(<script>
"use strict";
for (const svg of document.querySelectorAll("svg.turns")) {
  let azimuth = 0.6, elevation = 0.5, from = null;
  const parts = [...svg.querySelectorAll("[data-p]")].map((e) => ({ e, p: e.dataset.p.split(" ").map(Number) }));
  const first = parts.find((part) => part.e.tagName === "polygon"), rest = first && first.e.previousSibling;
  const draw = () => {
    const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
    for (const part of parts) {
      const at = [];
      let depth = 0;
      for (let i = 0; i < part.p.length; i += 3) {
        const x = part.p[i] - 0.5, y = part.p[i + 1] - 0.5, z = (part.p[i + 2] - 0.5) * 0.8;
        const away = x * sa + y * ca;
        at.push([330 + 270 * (x * ca - y * sa), 208 - 270 * (z * ce + away * se)]);
        depth += (away * ce - z * se) / (part.p.length / 3);
      }
      const tag = part.e.tagName;
      part.depth = depth - (tag === "circle" ? 0.02 : 0);
      if (tag === "text") { part.e.setAttribute("x", at[0][0]); part.e.setAttribute("y", at[0][1]); }
      else if (tag === "circle") { part.e.setAttribute("cx", at[0][0]); part.e.setAttribute("cy", at[0][1]); }
      else part.e.setAttribute("points", at.join(" "));
    }
    const solid = parts.filter((part) => part.e.tagName === "polygon" || part.e.tagName === "circle");
    solid.sort((a, b) => b.depth - a.depth);
    let last = rest;
    for (const part of solid) { last.after(part.e); last = part.e; }
  };
  const turn = (a, e) => {
    azimuth += a;
    elevation = Math.min(1.57, Math.max(0, elevation + e));
    draw();
  };
  svg.tabIndex = 0;
  svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointerup", () => { from = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    turn((event.clientX - from[0]) * 0.01, (event.clientY - from[1]) * 0.01);
    from = [event.clientX, event.clientY];
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (step) { event.preventDefault(); turn(...step); }
  });
}
</script>
)JS";

double away_of(Spot3 spot) {
  return (spot.x - 0.5) * std::sin(kAzimuth) + (spot.y - 0.5) * std::cos(kAzimuth);
}

double depth_of(Spot3 spot) {
  return away_of(spot) * std::cos(kElevation) - (spot.z - 0.5) * kRise * std::sin(kElevation);
}

Spot projected(Spot3 spot) {
  const double right = (spot.x - 0.5) * std::cos(kAzimuth) - (spot.y - 0.5) * std::sin(kAzimuth);
  const double up =
      (spot.z - 0.5) * kRise * std::cos(kElevation) + away_of(spot) * std::sin(kElevation);
  return {kMiddle.x + kScale * right, kMiddle.y - kScale * up};
}

Shape shape(Shape::Kind kind, std::vector<Spot3> space) {
  Shape out;
  out.kind = kind;
  for (const Spot3& spot : space) out.at.push_back(projected(spot));
  out.space = std::move(space);
  return out;
}

Shape label(const std::string& text, Spot3 at, Anchor anchor = Anchor::middle) {
  Shape out = shape(Shape::Kind::text, {at});
  out.text = text;
  out.anchor = anchor;
  return out;
}

Axis axis_of(double low, double high) {
  if (!(low < high)) {
    const double room = low == 0 ? 1 : std::fabs(low) / 2;
    return {false, low - room, high + room, 0, 1};
  }
  return {is_wide(low, high), low, high, 0, 1};
}

class Drawing {
 public:
  explicit Drawing(const results::Surface& surface)
      : surface_(surface),
        x_(axis_of(surface.x.front(), surface.x.back())),
        y_(axis_of(surface.y.front(), surface.y.back())) {
    const auto [low, high] = results::range_of(surface);
    z_ = axis_of(low, high);
  }

  Picture draw(const std::string& title, const std::string& value_label) {
    out_.height = kHeight;
    Shape head{Shape::Kind::text, {{74, 18}}, "", title, Anchor::begin, true, false, {}};
    out_.shapes.push_back(std::move(head));
    frame(value_label);
    cells();
    return std::move(out_);
  }

 private:
  void line(Spot3 from, Spot3 to) { out_.shapes.push_back(shape(Shape::Kind::line, {from, to})); }

  void frame(const std::string& value_label) {
    line({0, 1, 0}, {0, 1, 1});
    line({0, 1, 1}, {1, 1, 1});
    line({1, 1, 1}, {1, 0, 1});
    line({1, 0, 1}, {1, 0, 0});
    line({1, 1, 0}, {1, 1, 1});
    for (const double side : {0.0, 1.0}) {
      line({0, side, 0}, {1, side, 0});
      line({side, 0, 0}, {side, 1, 0});
    }
    const auto stride = [](std::size_t count) { return (count + kMostTicks - 1) / kMostTicks; };
    for (std::size_t i = 0; i < surface_.x.size(); i += stride(surface_.x.size())) {
      const double at = x_.place(surface_.x[i]);
      line({at, 0, 0}, {at, 1, 0});
      out_.shapes.push_back(label(fmt::format("{:g}", surface_.x[i]), {at, -0.08, -0.03}));
    }
    for (std::size_t i = 0; i < surface_.y.size(); i += stride(surface_.y.size())) {
      const double at = y_.place(surface_.y[i]);
      line({0, at, 0}, {1, at, 0});
      out_.shapes.push_back(
          label(fmt::format("{:g}", surface_.y[i]), {-0.06, at, -0.07}, Anchor::end));
    }
    for (const Tick& tick : y_ticks(z_)) {
      const double at = z_.place(tick.value);
      line({0, 1, at}, {1, 1, at});
      line({1, 1, at}, {1, 0, at});
      out_.shapes.push_back(label(tick.label, {-0.02, 1.03, at}, Anchor::end));
    }
    out_.shapes.push_back(label(surface_.x_name, {0.55, -0.24, -0.03}));
    out_.shapes.push_back(label(surface_.y_name, {-0.2, 0.5, -0.03}, Anchor::end));
    out_.shapes.push_back(label(value_label, {-0.02, 1.03, 1.1}));
  }

  Spot3 spot(std::size_t column, std::size_t row) const {
    return {x_.place(surface_.x[column]), y_.place(surface_.y[row]),
            z_.place(*surface_.at(column, row))};
  }

  // The corners of the cell that begins at a point; none: one of them is missing.
  std::vector<Spot3> corners_of(std::size_t column, std::size_t row) const {
    std::vector<Spot3> out;
    if (column + 1 == surface_.x.size() || row + 1 == surface_.y.size()) return out;
    for (const auto& [right, back] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}}) {
      const std::size_t x = column + static_cast<std::size_t>(right);
      const std::size_t y = row + static_cast<std::size_t>(back);
      if (!surface_.at(x, y)) return {};
      out.push_back(spot(x, y));
    }
    return out;
  }

  // What is far away first; a point before the cells that it belongs to.
  void cells() {
    std::vector<std::pair<double, Shape>> solid;
    for (std::size_t row = 0; row < surface_.y.size(); ++row)
      for (std::size_t column = 0; column < surface_.x.size(); ++column) {
        if (!surface_.at(column, row)) continue;
        Shape dot = shape(Shape::Kind::dot, {spot(column, row)});
        dot.text = fmt::format("{} {:g}, {} {:g}: {:.6g}", surface_.x_name, surface_.x[column],
                               surface_.y_name, surface_.y[row], *surface_.at(column, row));
        solid.emplace_back(depth_of(dot.space.front()) - 0.02, std::move(dot));
        const std::vector<Spot3> corners = corners_of(column, row);
        if (corners.empty()) continue;
        double depth = 0;
        double height = 0;
        for (const Spot3& corner : corners) {
          depth += depth_of(corner) / 4;
          height += corner.z / 4;
        }
        Shape cell = shape(Shape::Kind::area, corners);
        cell.colour = heat_colour(height);
        solid.emplace_back(depth, std::move(cell));
      }
    std::ranges::stable_sort(solid, std::greater{}, [](const auto& each) { return each.first; });
    for (auto& [unused, each] : solid) out_.shapes.push_back(std::move(each));
  }

  const results::Surface& surface_;
  Axis x_, y_, z_;
  Picture out_;
};

}  // namespace

bool is_wide(double low, double high) {
  return low > 0 && high / low >= kWide;
}

Picture draw_surface(const results::Surface& surface, const std::string& title,
                     const std::string& value_label) {
  return Drawing(surface).draw(title, value_label);
}

std::string_view surface_script() {
  return kScript;
}

}  // namespace foretrace::views
