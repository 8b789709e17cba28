#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "views/draw/charts.hpp"
#include "views/draw/plot.hpp"
#include "views/draw/plot_axis.hpp"
#include "views/draw/plot_frame.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kLineColours[] = {"#2f5fa8", "#b4500f", "#2b7a4b", "#8a3fa0", "#7a6a12"};
constexpr const char* kBox = "#9dbbe6";
constexpr const char* kWhisker = "#5d6673";
constexpr const char* kMedian = "#b4500f";

// What the charts below are put together of.
struct Chart {
  Picture out;

  Shape& text(Spot at, const std::string& words, Anchor anchor = Anchor::middle) {
    return out.shapes.emplace_back(
        Shape{Shape::Kind::text, {at}, "", words, anchor, false, false, {}});
  }
  void line(Spot from, Spot to, bool heavy = false, const char* colour = "") {
    out.shapes.push_back(
        {Shape::Kind::line, {from, to}, colour, "", Anchor::begin, heavy, false, {}});
  }
  void dot(Spot at, const std::string& told, const char* colour = "") {
    out.shapes.push_back({Shape::Kind::dot, {at}, colour, told, Anchor::begin, false, false, {}});
  }
  Shape& block(Spot from, Spot to, const std::string& colour) {
    return out.shapes.emplace_back(Shape{Shape::Kind::area,
                                         {from, {to.x, from.y}, to, {from.x, to.y}},
                                         colour,
                                         "",
                                         Anchor::begin,
                                         false,
                                         false,
                                         {}});
  }
  void names(const std::string& title, const std::string& x, const std::string& y) {
    text({kPlotLeft, 18}, title, Anchor::begin).heavy = true;
    text({(kPlotLeft + kPlotRight) / 2, kPlotBottom + 36}, x);
    text({16, (kPlotTop + kPlotBottom) / 2}, y).upright = true;
  }
  void y_grid(const Axis& y) {
    for (const Tick& tick : y_ticks(y)) {
      line({kPlotLeft, y.place(tick.value)}, {kPlotRight, y.place(tick.value)});
      text({kPlotLeft - 6, y.place(tick.value) + 4}, tick.label, Anchor::end);
    }
  }
};

// Of the values of a heat map, from 0 to 1.
struct Scale {
  double low = INFINITY, high = -INFINITY;
  bool log = false;

  explicit Scale(const HeatMap& map) {
    for (const auto& value : map.values)
      if (value) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
    log = map.log && low > 0;
  }
  double share(double value) const {
    if (!(high > low)) return 0.5;
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double value(double at) const {
    return log ? low * std::pow(high / low, at) : low + at * (high - low);
  }
};

void colour_key(Chart& chart, const Scale& scale, const std::string& name) {
  chart.text({kPlotRight + 14, kPlotTop + 10}, name, Anchor::begin);
  if (!(scale.high >= scale.low)) return;
  for (int i = 0; i <= 4; ++i) {
    const double y = kPlotTop + 18 + 18 * (4 - i);
    chart.block({kPlotRight + 14, y}, {kPlotRight + 28, y + 14},
                heat_colour(scale.high > scale.low ? i / 4.0 : 0.5));
    chart.text({kPlotRight + 34, y + 11}, fmt::format("{:.3g}", scale.value(i / 4.0)),
               Anchor::begin);
  }
}

void draw_box(Chart& chart, const SpreadBox& box, const Axis& y, double middle, double half) {
  chart.line({middle, y.place(box.values.front())}, {middle, y.place(box.values.back())}, false,
             kWhisker);
  chart.block({middle - half, y.place(box.upper)}, {middle + half, y.place(box.lower)}, kBox).text =
      fmt::format("{}: median {:.6g}, middle half {:.6g} to {:.6g}, {} launches", box.label,
                  box.median, box.lower, box.upper, box.values.size());
  chart.line({middle - half, y.place(box.median)}, {middle + half, y.place(box.median)}, true,
             kMedian);
  for (const double value : box.values)
    chart.dot({middle + half + 5, y.place(value)}, fmt::format("{:.6g}", value));
}

}  // namespace

Picture draw_heat_map(const HeatMap& map) {
  Chart chart;
  const Scale scale(map);
  const std::size_t columns = std::max<std::size_t>(map.columns.size(), 1);
  const std::size_t rows = std::max<std::size_t>(map.rows.size(), 1);
  const double width = (kPlotRight - kPlotLeft) / static_cast<double>(columns);
  const double height = (kPlotBottom - kPlotTop) / static_cast<double>(rows);
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const auto& value = map.values[row * map.columns.size() + column];
      if (!value) continue;
      const double x = kPlotLeft + static_cast<double>(column) * width;
      const double y = kPlotBottom - static_cast<double>(row + 1) * height;
      const double bright = scale.share(*value);
      chart.block({x, y}, {x + width, y + height}, heat_colour(bright)).text =
          fmt::format("{}, {}: {:.6g}", map.columns[column], map.rows[row], *value);
      if (width > 44 && height > 13)
        chart.text({x + width / 2, y + height / 2 + 4}, fmt::format("{:.3g}", *value)).colour =
            bright < 0.6 ? "#ffffff" : "#111111";
    }
  const std::size_t over = label_stride(columns, 12);
  for (std::size_t column = 0; column < map.columns.size(); column += over)
    chart.text({kPlotLeft + (static_cast<double>(column) + 0.5) * width, kPlotBottom + 16},
               map.columns[column]);
  const std::size_t up = label_stride(rows, 16);
  for (std::size_t row = 0; row < map.rows.size(); row += up)
    chart.text({kPlotLeft - 6, kPlotBottom - (static_cast<double>(row) + 0.5) * height + 4},
               map.rows[row], Anchor::end);
  colour_key(chart, scale, map.value_label);
  chart.names(map.title, map.x_label, map.y_label);
  return std::move(chart.out);
}

Picture draw_spread(const SpreadPlot& plot) {
  Chart chart;
  double low = INFINITY;
  double high = -INFINITY;
  for (const SpreadBox& box : plot.boxes) {
    low = std::min(low, box.values.front());
    high = std::max(high, box.values.back());
  }
  const bool log = low > 0 && high / low > 20;
  const double room = 0.06 * (high > low ? high - low : std::max(std::fabs(high), 1e-12));
  const Axis y{log, log ? low / 1.1 : low - room, log ? high * 1.1 : high + room, kPlotBottom,
               kPlotTop};
  chart.y_grid(y);
  const double width =
      (kPlotRight - kPlotLeft) / static_cast<double>(std::max<std::size_t>(plot.boxes.size(), 1));
  const std::size_t stride = label_stride(plot.boxes.size(), 12);
  for (std::size_t i = 0; i < plot.boxes.size(); ++i) {
    const double middle = kPlotLeft + (static_cast<double>(i) + 0.5) * width;
    draw_box(chart, plot.boxes[i], y, middle, std::min(0.3 * width, 30.0));
    if (i % stride == 0) chart.text({middle, kPlotBottom + 16}, plot.boxes[i].label);
  }
  double at = kPlotTop + 10;
  for (const char* words : {"dots: launches", "box: their middle half", "line in it: median"}) {
    chart.text({kPlotRight + 14, at}, words, Anchor::begin);
    at += 18;
  }
  chart.names(plot.title, plot.x_label, plot.y_label);
  return std::move(chart.out);
}

Picture draw_lines(const Plot& plot) {
  Chart chart;
  const Axis x = x_axis(plot, kPlotLeft, kPlotRight);
  const Axis y = y_axis(plot, kPlotBottom, kPlotTop);
  for (const Tick& tick : x_ticks(x, 11)) {
    chart.line({x.place(tick.value), kPlotTop}, {x.place(tick.value), kPlotBottom});
    chart.text({x.place(tick.value), kPlotBottom + 16}, tick.label);
  }
  chart.y_grid(y);
  chart.out.width = width_with_legend(plot, kPlotRight + 38, chart.out.width);
  double legend = kPlotTop + 10;
  for (std::size_t i = 0; i < plot.series.size(); ++i, legend += 18) {
    const char* colour = kLineColours[i % std::size(kLineColours)];
    Shape line{Shape::Kind::line, {}, colour, "", Anchor::begin, true, false, {}};
    for (const auto& piece : plot.series[i].pieces)
      for (const PlotPoint& point : piece) {
        line.at.push_back({x.place(point.x), y.place(point.y)});
        chart.dot(line.at.back(), fmt::format("{:g}: {:.6g}", point.x, point.y), colour);
      }
    chart.out.shapes.push_back(std::move(line));
    chart.line({kPlotRight + 12, legend - 4}, {kPlotRight + 32, legend - 4}, true, colour);
    chart.text({kPlotRight + 38, legend}, plot.series[i].label, Anchor::begin);
  }
  chart.names(plot.title, plot.x_label, plot.y_label);
  return std::move(chart.out);
}

}  // namespace foretrace::views
