#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "views/datasheet.hpp"
#include "views/markup.hpp"

namespace foretrace::views {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 330;
constexpr double kLeft = 74;
constexpr double kRight = 560;  // the legend stands right of it
constexpr double kTop = 30;
constexpr double kBottom = 280;
constexpr int kColours = 5;

// A tenth of a pixel; never "-0.0".
std::string pixel(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

struct Axis {
  bool log = true;
  double low = 1, high = 10;  // in values
  double from = 0, to = 1;    // in pixels

  double place(double value) const {
    const double clamped = std::clamp(value, low, high);
    const double share =
        log ? std::log(clamped / low) / std::log(high / low) : (clamped - low) / (high - low);
    return from + share * (to - from);
  }
};

struct Tick {
  double value = 0;
  std::string label;
};

template <class Use>
void each_point(const SheetPlot& plot, Use use) {
  for (const PlotSeries& series : plot.series)
    for (const auto& piece : series.pieces)
      for (const PlotPoint& point : piece) use(point);
}

Axis x_axis(const SheetPlot& plot) {
  Axis axis{true, INFINITY, 0, kLeft, kRight};
  each_point(plot, [&](const PlotPoint& p) {
    axis.low = std::min(axis.low, p.x);
    axis.high = std::max(axis.high, p.x);
  });
  if (!(axis.low < axis.high)) {
    const double only = std::isfinite(axis.low) ? axis.low : 1;
    axis.low = only / 2;
    axis.high = only * 2;
  }
  return axis;
}

Axis y_axis(const SheetPlot& plot) {
  Axis axis{plot.log_y, INFINITY, -INFINITY, kBottom, kTop};
  each_point(plot, [&](const PlotPoint& p) {
    for (const double y : {p.y, plot.log_y ? p.low : p.y, plot.log_y ? p.high : p.y})
      if (!plot.log_y || y > 0) {
        axis.low = std::min(axis.low, y);
        axis.high = std::max(axis.high, y);
      }
  });
  if (!std::isfinite(axis.low)) return {plot.log_y, plot.log_y ? 0.1 : -1, 1, kBottom, kTop};
  if (plot.log_y) {
    axis.low /= 1.3;
    axis.high *= 1.3;
  } else {
    // Zero is in sight, with room on both sides.
    const double room = std::max({std::abs(axis.low), std::abs(axis.high), 1e-9}) * 0.08;
    axis.low = std::min(axis.low, 0.0) - room;
    axis.high = std::max(axis.high, 0.0) + room;
  }
  return axis;
}

// 65536 -> "64 Ki"
std::string binary_label(double value) {
  static constexpr const char* kPrefixes[] = {"", " Ki", " Mi", " Gi", " Ti", " Pi"};
  std::size_t prefix = 0;
  while (value >= 1024 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1024;
    ++prefix;
  }
  return fmt::format("{:.0f}{}", value, kPrefixes[prefix]);
}

std::vector<Tick> x_ticks(const Axis& axis) {
  const double doublings = std::log2(axis.high / axis.low);
  const int step = std::max(1, static_cast<int>(std::ceil(doublings / 11)));
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::ceil(std::log2(axis.low) - 1e-9)); std::exp2(e) <= axis.high;
       ++e)
    if (e >= 0 && e % step == 0) ticks.push_back({std::exp2(e), binary_label(std::exp2(e))});
  return ticks;
}

// Decades; also 2 and 5 over a few of them; more within one, so that there is always a tick.
std::vector<Tick> log_ticks(const Axis& axis) {
  static constexpr double kDecades[] = {1};
  static constexpr double kFew[] = {1, 2, 5};
  static constexpr double kOne[] = {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9};
  const double decades = std::log10(axis.high / axis.low);
  const std::span<const double> leads = decades > 2.5   ? std::span<const double>(kDecades)
                                        : decades > 0.7 ? std::span<const double>(kFew)
                                                        : std::span<const double>(kOne);
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::floor(std::log10(axis.low))); std::pow(10, e) <= axis.high;
       ++e)
    for (const double lead : leads)
      if (const double value = lead * std::pow(10, e); value >= axis.low && value <= axis.high)
        ticks.push_back({value, fmt::format("{:g}", value)});
  return ticks;
}

std::vector<Tick> linear_ticks(const Axis& axis) {
  const double rough = (axis.high - axis.low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  std::vector<Tick> ticks;
  for (double n = std::ceil(axis.low / step); n * step <= axis.high; ++n)
    ticks.push_back({n * step, fmt::format("{:g}", n == 0 ? 0.0 : n * step)});
  return ticks;
}

struct Drawing {
  const Axis& x;
  const Axis& y;
  std::string out;

  void frame(const SheetPlot& plot) {
    for (const Tick& tick : x_ticks(x)) {
      const std::string at = pixel(x.place(tick.value));
      out +=
          fmt::format("<path class=\"grid\" d=\"M{0} {1}V{2}\"/>", at, pixel(kTop), pixel(kBottom));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"mid\">{}</text>\n", at,
                         pixel(kBottom + 16), tick.label);
    }
    for (const Tick& tick : plot.log_y ? log_ticks(y) : linear_ticks(y)) {
      const std::string at = pixel(y.place(tick.value));
      out += fmt::format("<path class=\"grid{}\" d=\"M{} {}H{}\"/>",
                         !plot.log_y && tick.value == 0 ? " zero" : "", pixel(kLeft), at,
                         pixel(kRight));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>\n", pixel(kLeft - 6),
                         pixel(y.place(tick.value) + 4), tick.label);
    }
    out += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       pixel(kLeft), pixel(kTop), pixel(kRight - kLeft), pixel(kBottom - kTop));
    const double middle = (kTop + kBottom) / 2;
    out += fmt::format("<text class=\"mid\" x=\"{}\" y=\"{}\">{}</text>\n",
                       pixel((kLeft + kRight) / 2), pixel(kBottom + 36), escape_html(plot.x_label));
    out += fmt::format("<text class=\"mid\" transform=\"translate(16 {}) rotate(-90)\">{}</text>\n",
                       pixel(middle), escape_html(plot.y_label));
    out += fmt::format("<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n", pixel(kLeft),
                       escape_html(plot.title));
  }

  void line(const PlotSeries& series) {
    for (const auto& piece : series.pieces) {
      const bool band = std::ranges::any_of(
          piece, [](const PlotPoint& p) { return p.low != p.y || p.high != p.y; });
      if (band) {
        out += fmt::format("<path class=\"band c{}\" d=\"", series.colour % kColours);
        char move = 'M';
        for (const PlotPoint& p : piece) {
          out += fmt::format("{}{} {}", move, pixel(x.place(p.x)), pixel(y.place(p.high)));
          move = 'L';
        }
        for (auto p = piece.rbegin(); p != piece.rend(); ++p)
          out += fmt::format("L{} {}", pixel(x.place(p->x)), pixel(y.place(p->low)));
        out += "Z\"/>\n";
      }
      out += fmt::format("<path class=\"line c{}\" d=\"", series.colour % kColours);
      char move = 'M';
      for (const PlotPoint& p : piece) {
        out += fmt::format("{}{} {}", move, pixel(x.place(p.x)), pixel(y.place(p.y)));
        move = 'L';
      }
      // A regime that shows one size only is still to be seen.
      if (piece.size() == 1) out += "h1";
      out += "\"/>\n";
    }
  }

  void marks(const PlotSeries& series) {
    for (const auto& piece : series.pieces)
      for (const PlotPoint& p : piece) {
        const std::string at = pixel(x.place(p.x));
        if (p.low != p.high)
          out += fmt::format("<path class=\"bar c{}\" d=\"M{} {}V{}\"/>", series.colour % kColours,
                             at, pixel(y.place(p.low)), pixel(y.place(p.high)));
        out += fmt::format("<circle class=\"mark c{}\" cx=\"{}\" cy=\"{}\" r=\"2.4\"/>\n",
                           series.colour % kColours, at, pixel(y.place(p.y)));
      }
  }

  void legend(const SheetPlot& plot) {
    double at = kTop + 10;
    for (const PlotSeries& series : plot.series) {
      const int colour = series.colour % kColours;
      if (series.marks)
        out += fmt::format("<circle class=\"mark c{}\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", colour,
                           pixel(kRight + 22), pixel(at - 4));
      else
        out += fmt::format("<path class=\"line c{}\" d=\"M{} {}h20\"/>", colour, pixel(kRight + 12),
                           pixel(at - 4));
      out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", pixel(kRight + 38), pixel(at),
                         escape_html(series.label));
      at += 18;
    }
  }
};

}  // namespace

std::string render_svg_plot(const SheetPlot& plot) {
  const Axis x = x_axis(plot);
  const Axis y = y_axis(plot);
  Drawing drawing{x, y, {}};
  drawing.out = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
      kWidth, kHeight, escape_html(plot.title));
  drawing.frame(plot);
  for (const PlotSeries& series : plot.series)
    if (!series.marks) drawing.line(series);
  for (const PlotSeries& series : plot.series)
    if (series.marks) drawing.marks(series);
  drawing.legend(plot);
  return drawing.out + "</svg>\n";
}

}  // namespace foretrace::views
