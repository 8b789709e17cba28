#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "views/datasheet/datasheet.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/plot_axis.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kStyle =
    R"(.plot text { font: 11px system-ui, sans-serif; fill: var(--ink); }
.plot .title { font-weight: 600; font-size: 13px; }
.plot .mid { text-anchor: middle; }
.plot .end { text-anchor: end; }
.grid { stroke: var(--rule); fill: none; }
.zero { stroke: var(--soft); }
.frame { fill: none; stroke: var(--soft); }
.line { fill: none; stroke-width: 1.8; }
.bar { fill: none; stroke-width: 1; opacity: .5; }
.band { stroke: none; opacity: .18; }
.mark { stroke: none; }
.line.c0, .bar.c0 { stroke: var(--c0); } .band.c0, .mark.c0 { fill: var(--c0); }
.line.c1, .bar.c1 { stroke: var(--c1); } .band.c1, .mark.c1 { fill: var(--c1); }
.line.c2, .bar.c2 { stroke: var(--c2); } .band.c2, .mark.c2 { fill: var(--c2); }
.line.c3, .bar.c3 { stroke: var(--c3); } .band.c3, .mark.c3 { fill: var(--c3); }
.line.c4, .bar.c4 { stroke: var(--c4); } .band.c4, .mark.c4 { fill: var(--c4); }
.line.d1 { stroke-dasharray: 7 3; }
.line.d2 { stroke-dasharray: 2 3; }
)";

constexpr double kWidth = 720;
constexpr double kHeight = 330;
constexpr double kLeft = 74;
constexpr double kRight = 560;  // the legend stands right of it
constexpr double kLegend = kRight + 38;
constexpr double kTop = 30;
constexpr double kBottom = 280;
constexpr int kColours = 5;
constexpr int kDashes = 3;
constexpr int kMostXTicks = 11;

// Beyond five series the colours come again, with dashes.
std::string line_class(const PlotSeries& series) {
  const int dash = series.colour / kColours % kDashes;
  return fmt::format("line c{}{}", series.colour % kColours,
                     dash == 0 ? "" : fmt::format(" d{}", dash));
}

// A tenth of a pixel; never "-0.0".
std::string pixel(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

struct Drawing {
  const Axis& x;
  const Axis& y;
  std::string out;

  void frame(const SheetPlot& plot) {
    for (const Tick& tick : x_ticks(x, kMostXTicks)) {
      const std::string at = pixel(x.place(tick.value));
      out +=
          fmt::format("<path class=\"grid\" d=\"M{0} {1}V{2}\"/>", at, pixel(kTop), pixel(kBottom));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"mid\">{}</text>\n", at,
                         pixel(kBottom + 16), tick.label);
    }
    for (const Tick& tick : y_ticks(y)) {
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
      out += fmt::format("<path class=\"{}\" d=\"", line_class(series));
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
        out += fmt::format("<path class=\"{}\" d=\"M{} {}h20\"/>", line_class(series),
                           pixel(kRight + 12), pixel(at - 4));
      out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", pixel(kLegend), pixel(at),
                         escape_html(series.label));
      at += 18;
    }
  }
};

}  // namespace

std::string_view svg_plot_style() {
  return kStyle;
}

std::string render_svg_file(const SheetPlot& plot) {
  std::string out = render_svg_plot(plot);
  const std::string_view begin = "<svg ";
  out.insert(begin.size(), fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" "
                                       "height=\"{:.0f}\" ",
                                       width_with_legend(plot, kLegend, kWidth), kHeight));
  out.insert(out.find('\n') + 1, "<style>\n" + std::string(page_colours()) + kStyle +
                                     "svg { background: var(--paper); }\n</style>\n");
  return out;
}

std::string render_svg_plot(const SheetPlot& plot) {
  const Axis x = x_axis(plot, kLeft, kRight);
  const Axis y = y_axis(plot, kBottom, kTop);
  Drawing drawing{x, y, {}};
  drawing.out = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
      width_with_legend(plot, kLegend, kWidth), kHeight, escape_html(plot.title));
  drawing.frame(plot);
  for (const PlotSeries& series : plot.series)
    if (!series.marks) drawing.line(series);
  for (const PlotSeries& series : plot.series)
    if (series.marks) drawing.marks(series);
  drawing.legend(plot);
  return drawing.out + "</svg>\n";
}

}  // namespace foretrace::views
