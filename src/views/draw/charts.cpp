#include "views/draw/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/plot.hpp"
#include "views/draw/plot_axis.hpp"
#include "views/draw/plot_frame.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kChartStyle =
    R"(.plot .part { stroke: var(--paper); stroke-width: .5; }
.plot .part.s1 { opacity: .62; } .plot .part.s2 { opacity: .35; }
.part.c0 { fill: var(--c0); } .part.c1 { fill: var(--c1); } .part.c2 { fill: var(--c2); }
.part.c3 { fill: var(--c3); } .part.c4 { fill: var(--c4); }
)";

std::string begin(const std::string& title) {
  return fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n"
      "<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n",
      kPlotWidth, kPlotHeight, pixel(kPlotLeft), escape_html(title));
}

std::string labels(const std::string& x, const std::string& y) {
  return fmt::format(
      "<text class=\"mid\" x=\"{}\" y=\"{}\">{}</text>\n"
      "<text class=\"mid\" transform=\"translate(16 {}) rotate(-90)\">{}</text>\n",
      pixel((kPlotLeft + kPlotRight) / 2), pixel(kPlotBottom + 36), escape_html(x),
      pixel((kPlotTop + kPlotBottom) / 2), escape_html(y));
}

std::string part_class(std::size_t index) {
  const std::size_t shade = index / kPlotColours % 3;
  return fmt::format("part c{}{}", index % kPlotColours,
                     shade == 0 ? "" : fmt::format(" s{}", shade));
}

double highest(const StackedBars& bars) {
  double most = 0;
  for (std::size_t column = 0; column < bars.columns.size(); ++column) {
    double sum = 0;
    for (const StackedBars::Part& part : bars.parts)
      if (column < part.values.size()) sum += std::max(part.values[column], 0.0);
    most = std::max(most, sum);
  }
  return most > 0 ? most : 1;
}

}  // namespace

std::string_view chart_style() {
  return kChartStyle;
}

std::string heat_colour(double share) {
  struct Stop {
    double r, g, b;
  };
  static constexpr Stop kStops[] = {
      {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double at = std::clamp(share, 0.0, 1.0) * 4;
  const int i = std::min(static_cast<int>(at), 3);
  const double f = at - i;
  const auto mix = [&](double a, double b) {
    return static_cast<int>(std::lround(a + f * (b - a)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(kStops[i].r, kStops[i + 1].r),
                     mix(kStops[i].g, kStops[i + 1].g), mix(kStops[i].b, kStops[i + 1].b));
}

std::string render_stacked_svg(const StackedBars& bars) {
  std::string out = begin(bars.title);
  const Axis y{false, 0, highest(bars) * 1.04, kPlotBottom, kPlotTop};
  for (const Tick& tick : y_ticks(y)) {
    const std::string at = pixel(y.place(tick.value));
    out += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>", pixel(kPlotLeft), at,
                       pixel(kPlotRight));
    out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>\n", pixel(kPlotLeft - 6),
                       pixel(y.place(tick.value) + 4), tick.label);
  }
  const std::size_t count = bars.columns.size();
  const double width =
      (kPlotRight - kPlotLeft) / static_cast<double>(std::max<std::size_t>(count, 1));
  const std::size_t stride = label_stride(count, 12);
  for (std::size_t column = 0; column < count; ++column) {
    const double middle = kPlotLeft + (static_cast<double>(column) + 0.5) * width;
    double below = 0;
    for (std::size_t i = 0; i < bars.parts.size(); ++i) {
      const StackedBars::Part& part = bars.parts[i];
      const double value = column < part.values.size() ? std::max(part.values[column], 0.0) : 0.0;
      const double top = y.place(below + value);
      out += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}, {}: "
          "{:.6g}</title></rect>\n",
          part_class(i), pixel(middle - 0.4 * width), pixel(top), pixel(0.8 * width),
          pixel(y.place(below) - top), escape_html(bars.columns[column]), escape_html(part.label),
          value);
      below += value;
    }
    if (column % stride == 0)
      out += fmt::format("<text class=\"mid\" x=\"{}\" y=\"{}\">{}</text>\n", pixel(middle),
                         pixel(kPlotBottom + 16), escape_html(bars.columns[column]));
  }
  // In the order in which they lie upon each other.
  double at = kPlotTop + 10;
  for (std::size_t i = bars.parts.size(); i-- > 0; at += 18)
    out += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>\n",
        part_class(i), pixel(kPlotRight + 14), pixel(at - 10), pixel(kPlotRight + 32), pixel(at),
        escape_html(bars.parts[i].label));
  return out + labels(bars.x_label, bars.y_label) + "</svg>\n";
}

std::string svg_file(std::string element) {
  const std::string_view start = "<svg ";
  element.insert(start.size(), fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" "
                                           "height=\"{:.0f}\" ",
                                           kPlotWidth, kPlotHeight));
  element.insert(element.find('\n') + 1, "<style>\n" + std::string(page_colours()) +
                                             std::string(svg_plot_style()) + kChartStyle +
                                             "svg { background: var(--paper); }\n</style>\n");
  return element;
}

}  // namespace foretrace::views
