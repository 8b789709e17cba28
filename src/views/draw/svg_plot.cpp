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

constexpr const char* kPlotStyle =
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
.wide > .plot { min-width: 34rem; }
)";

constexpr double kLegend = kPlotRight + 38;
constexpr int kDashes = 3;
constexpr int kMostXTicks = 11;
constexpr double kStrokeWidth = 1.8;  // as in kPlotStyle
constexpr double kWider = 2.4;        // what of a line is to be seen beside one that lies on it

// Beyond five series the colours come again, with dashes.
std::string line_class(const PlotSeries& series) {
  const int dash = series.colour / kPlotColours % kDashes;
  return fmt::format("line c{}{}", series.colour % kPlotColours,
                     dash == 0 ? "" : fmt::format(" d{}", dash));
}

// A tenth of a pixel; never "-0.0".
struct Drawing {
  const Axis& x;
  const Axis& y;
  std::string out;

  void frame(const Plot& plot) {
    for (const Tick& tick : x_ticks(x, kMostXTicks)) {
      const std::string at = pixel(x.place(tick.value));
      out += fmt::format("<path class=\"grid\" d=\"M{0} {1}V{2}\"/>", at, pixel(kPlotTop),
                         pixel(kPlotBottom));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"mid\">{}</text>\n", at,
                         pixel(kPlotBottom + 16), tick.label);
    }
    for (const Tick& tick : y_ticks(y)) {
      const std::string at = pixel(y.place(tick.value));
      out += fmt::format("<path class=\"grid{}\" d=\"M{} {}H{}\"/>",
                         !plot.log_y && tick.value == 0 ? " zero" : "", pixel(kPlotLeft), at,
                         pixel(kPlotRight));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{}</text>\n", pixel(kPlotLeft - 6),
                         pixel(y.place(tick.value) + 4), tick.label);
    }
    out += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       pixel(kPlotLeft), pixel(kPlotTop), pixel(kPlotRight - kPlotLeft),
                       pixel(kPlotBottom - kPlotTop));
    const double middle = (kPlotTop + kPlotBottom) / 2;
    out += fmt::format("<text class=\"mid\" x=\"{}\" y=\"{}\">{}</text>\n",
                       pixel((kPlotLeft + kPlotRight) / 2), pixel(kPlotBottom + 36),
                       escape_html(plot.x_label));
    out += fmt::format("<text class=\"mid\" transform=\"translate(16 {}) rotate(-90)\">{}</text>\n",
                       pixel(middle), escape_html(plot.y_label));
    out += fmt::format("<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n", pixel(kPlotLeft),
                       escape_html(plot.title));
  }

  std::string path_of(const std::vector<PlotPoint>& piece) const {
    std::string path;
    char move = 'M';
    for (const PlotPoint& p : piece) {
      path += fmt::format("{}{} {}", move, pixel(x.place(p.x)), pixel(y.place(p.y)));
      move = 'L';
    }
    // A regime that shows one size only is still to be seen.
    return piece.size() == 1 ? path + "h1" : path;
  }

  std::string path_of(const PlotSeries& series) const {
    std::string path;
    for (const auto& piece : series.pieces) path += path_of(piece);
    return path;
  }

  // `above`: how many lines will lie on just this one.
  void line(const PlotSeries& series, std::ptrdiff_t above) {
    const std::string wider = above == 0
                                  ? ""
                                  : fmt::format(" style=\"stroke-width:{:.1f}\"",
                                                kStrokeWidth + kWider * static_cast<double>(above));
    for (const auto& piece : series.pieces) {
      const bool band = std::ranges::any_of(
          piece, [](const PlotPoint& p) { return p.low != p.y || p.high != p.y; });
      if (band) {
        out += fmt::format("<path class=\"band c{}\" d=\"", series.colour % kPlotColours);
        char move = 'M';
        for (const PlotPoint& p : piece) {
          out += fmt::format("{}{} {}", move, pixel(x.place(p.x)), pixel(y.place(p.high)));
          move = 'L';
        }
        for (auto p = piece.rbegin(); p != piece.rend(); ++p)
          out += fmt::format("L{} {}", pixel(x.place(p->x)), pixel(y.place(p->low)));
        out += "Z\"/>\n";
      }
      out += fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", line_class(series), wider,
                         path_of(piece));
    }
  }

  void marks(const PlotSeries& series) {
    for (const auto& piece : series.pieces)
      for (const PlotPoint& p : piece) {
        const std::string at = pixel(x.place(p.x));
        if (p.low != p.high)
          out +=
              fmt::format("<path class=\"bar c{}\" d=\"M{} {}V{}\"/>", series.colour % kPlotColours,
                          at, pixel(y.place(p.low)), pixel(y.place(p.high)));
        out += fmt::format("<circle class=\"mark c{}\" cx=\"{}\" cy=\"{}\" r=\"2.4\"/>\n",
                           series.colour % kPlotColours, at, pixel(y.place(p.y)));
      }
  }

  void lines(const Plot& plot) {
    std::vector<std::string> paths;
    for (const PlotSeries& series : plot.series)
      paths.push_back(series.marks ? "" : path_of(series));
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!plot.series[i].marks)
        line(plot.series[i],
             std::count(paths.begin() + static_cast<std::ptrdiff_t>(i) + 1, paths.end(), paths[i]));
  }

  void legend(const Plot& plot) {
    double at = kPlotTop + 10;
    for (const PlotSeries& series : plot.series) {
      const int colour = series.colour % kPlotColours;
      if (series.marks)
        out += fmt::format("<circle class=\"mark c{}\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", colour,
                           pixel(kPlotRight + 22), pixel(at - 4));
      else
        out += fmt::format("<path class=\"{}\" d=\"M{} {}h20\"/>", line_class(series),
                           pixel(kPlotRight + 12), pixel(at - 4));
      out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", pixel(kLegend), pixel(at),
                         escape_html(series.label));
      at += 18;
    }
  }
};

}  // namespace

std::string_view svg_plot_style() {
  return kPlotStyle;
}

std::string render_svg_file(const Plot& plot) {
  std::string out = render_svg_plot(plot);
  const std::string_view begin = "<svg ";
  out.insert(begin.size(), fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" "
                                       "height=\"{:.0f}\" ",
                                       width_with_legend(plot, kLegend, kPlotWidth), kPlotHeight));
  out.insert(out.find('\n') + 1, "<style>\n" + std::string(page_colours()) + kPlotStyle +
                                     "svg { background: var(--paper); }\n</style>\n");
  return out;
}

std::string render_svg_figure(const Plot& plot) {
  return "<div class=\"wide\">" + render_svg_plot(plot) + "</div>\n";
}

std::string render_svg_plot(const Plot& plot) {
  const Axis x = x_axis(plot, kPlotLeft, kPlotRight);
  const Axis y = y_axis(plot, kPlotBottom, kPlotTop);
  Drawing drawing{x, y, {}};
  drawing.out = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
      width_with_legend(plot, kLegend, kPlotWidth), kPlotHeight, escape_html(plot.title));
  drawing.frame(plot);
  drawing.lines(plot);
  for (const PlotSeries& series : plot.series)
    if (series.marks) drawing.marks(series);
  drawing.legend(plot);
  return drawing.out + "</svg>\n";
}

}  // namespace foretrace::views
