#include "views/datasheet/latex_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "views/draw/markup.hpp"
#include "views/draw/plot_axis.hpp"

namespace foretrace::views {
namespace {

struct Colour {
  double red = 0, green = 0, blue = 0;
};

constexpr Colour kSeries[] = {{0.184, 0.373, 0.659},
                              {0.706, 0.314, 0.059},
                              {0.169, 0.478, 0.294},
                              {0.541, 0.247, 0.627},
                              {0.478, 0.416, 0.071}};
constexpr Colour kGrid{0.86, 0.86, 0.86};
constexpr Colour kFrame{0.45, 0.45, 0.45};
constexpr Colour kWhite{1, 1, 1};

// All lengths are big points, 1/72 inch; a line of the page has 504.
constexpr double kWholeWidth = 440;
constexpr double kHalfWidth = 236;
constexpr double kFrameHeight = 128;
constexpr double kLeft = 34;   // room for the labels of the y axis
constexpr double kAbove = 28;  // title and label of the y axis
constexpr double kBelow = 26;  // the labels of the x axis
constexpr double kBelowSurface = 22;
constexpr double kLegendRow = 11;
constexpr double kLetter = 3.8;  // the width of one, in the type of legends
constexpr double kSample = 16;   // a piece of a curve in a legend
constexpr int kTicksOfHalf = 8;
constexpr int kTicksOfSurface = 6;
constexpr int kTicksOfWhole = 12;
constexpr double kDot = 1.1;
constexpr double kCardFrame = 64;
constexpr double kCardLeft = 25;
constexpr double kCardBelow = 9;
constexpr double kCardLegend = 8;
constexpr double kCardLetter = 2.6;
constexpr double kCardSample = 8;
constexpr int kTicksOfCard = 5;

const Colour& colour_of(int series) {
  return kSeries[static_cast<std::size_t>(series) % std::size(kSeries)];
}

std::string stroke(const Colour& c) {
  return fmt::format("{} {} {} RG ", c.red, c.green, c.blue);
}
std::string fill(const Colour& c) {
  return fmt::format("{:.4g} {:.4g} {:.4g} rg ", c.red, c.green, c.blue);
}
std::string at(double x, double y, char operation) {
  return fmt::format("{:.2f} {:.2f} {}\n", x, y, operation);
}

// Four arcs, as PDF has no circle.
std::string dot(double x, double y, double radius) {
  const double k = 0.5523 * radius;
  const auto arc = [&](double ax, double ay, double bx, double by, double cx, double cy) {
    return fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c\n", x + ax, y + ay, x + bx,
                       y + by, x + cx, y + cy);
  };
  return at(x + radius, y, 'm') + arc(radius, k, k, radius, 0, radius) +
         arc(-k, radius, -radius, k, -radius, 0) + arc(-radius, -k, -k, -radius, 0, -radius) +
         arc(k, -radius, radius, -k, radius, 0) + "f\n";
}

// "1e+06" as a power of ten.
std::string tick_label(const std::string& label) {
  const std::size_t e = label.find('e');
  if (e == std::string::npos) return escape_latex(label);
  const std::string power = fmt::format("10^{{{}}}", std::stoi(label.substr(e + 1)));
  const std::string lead = label.substr(0, e);
  return lead == "1" ? "$" + power + "$" : "$" + lead + "\\cdot" + power + "$";
}

struct Picture {
  std::string out;

  Picture(double width, double height)
      : out(fmt::format("\\begin{{picture}}({:.0f},{:.0f})\n", width, height)) {}

  void ink(const std::string& operators) {
    out += "\\put(0,0){\\ink{q 0.4 w " + operators + "Q}}\n";
  }
  // `anchor`: the side of the text that is at the point, as \makebox names it.
  void label(double x, double y, const char* anchor, const std::string& latex) {
    out += fmt::format("\\put({:.2f},{:.2f}){{\\makebox(0,0)[{}]{{{}}}}}\n", x, y, anchor, latex);
  }
  std::string end() { return out + "\\end{picture}"; }
};

struct Placed {
  double x = 0, y = 0;  // from the left, from the top
  const PlotSeries* series = nullptr;
};

// Entries side by side, in as many rows as they need.
std::vector<Placed> lay_out_legend(const Plot& plot, double width) {
  std::vector<Placed> placed;
  double x = 0;
  double y = 0;
  for (const PlotSeries& series : plot.series) {
    const double needed = kSample + 10 + kLetter * static_cast<double>(series.label.size());
    if (x > 0 && x + needed > width) {
      x = 0;
      y += kLegendRow;
    }
    placed.push_back({x, y, &series});
    x += needed;
  }
  return placed;
}

std::string band(const std::vector<PlotPoint>& piece, const Axis& x, const Axis& y) {
  if (std::ranges::none_of(piece, [](const PlotPoint& p) { return p.low != p.y || p.high != p.y; }))
    return "";
  std::string out;
  for (const PlotPoint& p : piece)
    out += at(x.place(p.x), y.place(p.high), out.empty() ? 'm' : 'l');
  for (auto p = piece.rbegin(); p != piece.rend(); ++p)
    out += at(x.place(p->x), y.place(p->low), 'l');
  return out + "f\n";
}

std::string line(const std::vector<PlotPoint>& piece, const Axis& x, const Axis& y) {
  std::string out;
  for (const PlotPoint& p : piece) out += at(x.place(p.x), y.place(p.y), out.empty() ? 'm' : 'l');
  // A regime that shows one size only is still to be seen.
  if (piece.size() == 1) out += at(x.place(piece[0].x) + 1, y.place(piece[0].y), 'l');
  return out + "S\n";
}

void draw_series(const Plot& plot, const Axis& x, const Axis& y, Picture& picture) {
  for (const PlotSeries& series : plot.series)
    for (const auto& piece : series.pieces)
      if (!series.marks)
        picture.ink("/band gs " + fill(colour_of(series.colour)) + band(piece, x, y));
  for (const PlotSeries& series : plot.series) {
    const Colour& colour = colour_of(series.colour);
    for (const auto& piece : series.pieces) {
      std::string out = stroke(colour);
      if (!series.marks) {
        picture.ink("1 w 1 J " + out + line(piece, x, y));
        continue;
      }
      out += fill(colour);
      for (const PlotPoint& p : piece) {
        const double place = x.place(p.x);
        if (p.low != p.high)
          out += at(place, y.place(p.low), 'm') + at(place, y.place(p.high), 'l') + "S\n";
        out += dot(place, y.place(p.y), kDot);
      }
      picture.ink(out);
    }
  }
}

// Grid, labels at the axes, curves and frame.
void draw_framed(const Plot& plot, const Axis& x, const Axis& y, int most_ticks, const char* type,
                 Picture& picture) {
  std::string grid = stroke(kGrid);
  for (const Tick& tick : x_ticks(x, most_ticks)) {
    grid += at(x.place(tick.value), y.from, 'm') + at(x.place(tick.value), y.to, 'l') + "S\n";
    picture.label(x.place(tick.value), y.from - 3, "t", type + escape_latex(tick.label));
  }
  for (const Tick& tick : y_ticks(y)) {
    const double place = y.place(tick.value);
    const bool zero = !plot.log_y && tick.value == 0;
    grid += (zero ? stroke(kFrame) : "") + at(x.from, place, 'm') + at(x.to, place, 'l') + "S\n" +
            (zero ? stroke(kGrid) : "");
    picture.label(x.from - 3, place, "r", type + tick_label(tick.label));
  }
  picture.ink(grid);
  draw_series(plot, x, y, picture);
  picture.ink(stroke(kFrame) + fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} re S\n", x.from, y.from,
                                           x.to - x.from, y.to - y.from));
}

bool has_something(const Plot& plot) {
  for (const PlotSeries& series : plot.series)
    for (const auto& piece : series.pieces)
      for (const PlotPoint& p : piece)
        if (!plot.log_y || p.y > 0) return true;
  return false;
}

// A view of the unit cube from above, straight lines staying straight and parallel ones parallel.
struct View {
  double width = 0, height = 0;  // of the cube's picture

  struct Point {
    double x = 0, y = 0;
    double depth = 0;  // larger: further away
  };
  // x to the right and towards the viewer, y to the right and away, z up.
  Point of(double x, double y, double z) const {
    constexpr double kTurn = 0.62;  // how much of the width x takes, y the rest
    constexpr double kTilt = 0.38;  // how much of the height the floor takes
    return {width * (kTurn * x + (1 - kTurn) * y),
            height * (kTilt * (0.5 * (1 - x) + 0.5 * y) + (1 - kTilt) * z), y - x};
  }
};

Axis axis_of(double low, double high, bool round_up) {
  if (round_up) high *= 1.0001;
  if (!(low < high)) high = 2 * low;
  return {true, low, high, 0, 1};
}

struct SurfaceAxes {
  Axis x, y, z;
};

SurfaceAxes axes_of(const SheetSurface& surface) {
  SurfacePoint low{INFINITY, INFINITY, INFINITY};
  SurfacePoint high{0, 0, 0};
  const auto see = [&](const std::vector<SurfacePoint>& points) {
    for (const SurfacePoint& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
  };
  for (const auto& row : surface.rows) see(row);
  see(surface.points);
  return {axis_of(low.x, high.x, true), axis_of(low.y, high.y, true),
          axis_of(low.z / 1.2, high.z * 1.2, false)};
}

std::string line_of(const View::Point& a, const View::Point& b) {
  return at(a.x, a.y, 'm') + at(b.x, b.y, 'l') + "S\n";
}

// Floor and back walls with their grid, labels at the outer edges.
void draw_box(const SheetSurface& surface, const SurfaceAxes& axes, const View& view,
              Picture& picture) {
  std::string grid = stroke(kGrid);
  for (const Tick& tick : x_ticks(axes.x, kTicksOfSurface)) {
    const double x = axes.x.place(tick.value);
    grid +=
        line_of(view.of(x, 0, 0), view.of(x, 1, 0)) + line_of(view.of(x, 1, 0), view.of(x, 1, 1));
    const View::Point end = view.of(x, 0, 0);
    picture.label(end.x - 2, end.y - 3, "tr", "\\scriptsize " + escape_latex(tick.label));
  }
  for (const Tick& tick : x_ticks(axes.y, kTicksOfSurface)) {
    const double y = axes.y.place(tick.value);
    grid +=
        line_of(view.of(0, y, 0), view.of(1, y, 0)) + line_of(view.of(0, y, 0), view.of(0, y, 1));
    const View::Point end = view.of(1, y, 0);
    picture.label(end.x + 3, end.y - 1, "tl", "\\scriptsize " + escape_latex(tick.label));
  }
  for (const Tick& tick : y_ticks(axes.z)) {
    const double z = axes.z.place(tick.value);
    grid +=
        line_of(view.of(0, 0, z), view.of(0, 1, z)) + line_of(view.of(0, 1, z), view.of(1, 1, z));
    const View::Point end = view.of(0, 0, z);
    picture.label(end.x - 4, end.y, "r", "\\scriptsize " + tick_label(tick.label));
  }
  picture.ink(grid);
  picture.ink(stroke(kFrame) + line_of(view.of(0, 0, 0), view.of(1, 0, 0)) +
              line_of(view.of(1, 0, 0), view.of(1, 1, 0)) +
              line_of(view.of(0, 0, 0), view.of(0, 0, 1)));
  const View::Point x_middle = view.of(0.5, 0, 0);
  picture.label(x_middle.x - 0.08 * view.width, x_middle.y - 0.07 * view.height, "tr",
                "\\footnotesize bytes");
  const View::Point y_middle = view.of(1, 0.5, 0);
  picture.label(y_middle.x + 0.07 * view.width, y_middle.y - 0.03 * view.height, "tl",
                "\\footnotesize ranks");
  const View::Point top = view.of(0, 0, 1);
  picture.label(top.x - kLeft, view.height + 19, "l",
                "\\small\\textbf{" + escape_latex(surface.title) + "}");
  picture.label(top.x - kLeft, view.height + 7, "l",
                "\\footnotesize " + escape_latex(surface.z_label));
}

struct Facet {
  double depth = 0;
  std::string operators;
};

std::vector<Facet> facets_of(const SheetSurface& surface, const SurfaceAxes& axes,
                             const View& view) {
  std::vector<Facet> facets;
  const std::size_t columns = surface.rows.front().size();
  for (std::size_t r = 0; r + 1 < surface.rows.size(); ++r)
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      const SurfacePoint* corners[] = {&surface.rows[r][c], &surface.rows[r][c + 1],
                                       &surface.rows[r + 1][c + 1], &surface.rows[r + 1][c]};
      Facet facet;
      std::string path;
      double height = 0;
      for (const SurfacePoint* p : corners) {
        const double z = axes.z.place(p->z);
        const View::Point seen = view.of(axes.x.place(p->x), axes.y.place(p->y), z);
        path += at(seen.x, seen.y, path.empty() ? 'm' : 'l');
        facet.depth += seen.depth / 4;
        height += z / 4;
      }
      const double shade = 0.2 + 0.6 * height;
      const auto mixed = [&](double white, double full) { return white + shade * (full - white); };
      facet.operators =
          fill({mixed(kWhite.red, kSeries[0].red), mixed(kWhite.green, kSeries[0].green),
                mixed(kWhite.blue, kSeries[0].blue)}) +
          path + "b\n";
      facets.push_back(std::move(facet));
    }
  std::ranges::stable_sort(facets,
                           [](const Facet& a, const Facet& b) { return a.depth > b.depth; });
  return facets;
}

}  // namespace

std::string_view latex_plot_preamble() {
  return R"(\ifpdftex
  \newcommand\ink[1]{\pdfliteral{#1}}
  \pdfpageresources{/ExtGState << /band << /ca 0.18 >> >>}
\else
  \newcommand\ink[1]{\pdfextension literal{#1}}
  \pdfvariable pageresources{/ExtGState << /band << /ca 0.18 >> >>}
\fi
\setlength{\unitlength}{1bp}
)";
}

std::string latex_plot(const Plot& plot, PlotWidth width) {
  if (!has_something(plot)) return "\nThe time is zero everywhere.\n\n";
  const double right = width == PlotWidth::half ? kHalfWidth : kWholeWidth;
  const std::vector<Placed> legend = lay_out_legend(plot, right - kLeft);
  const double low = kBelow + (legend.empty() ? 0 : legend.back().y + kLegendRow);
  const double high = low + kFrameHeight;
  const Axis x = x_axis(plot, kLeft, right - 6);
  const Axis y = y_axis(plot, low, high);

  Picture picture(right, high + kAbove);
  draw_framed(plot, x, y, width == PlotWidth::half ? kTicksOfHalf : kTicksOfWhole, "\\scriptsize ",
              picture);
  picture.label((x.from + x.to) / 2, low - 14, "t", "\\footnotesize " + escape_latex(plot.x_label));
  picture.label(0, high + 19, "l", "\\small\\textbf{" + escape_latex(plot.title) + "}");
  picture.label(0, high + 7, "l", "\\footnotesize " + escape_latex(plot.y_label));
  for (const Placed& entry : legend) {
    const double from = kLeft + entry.x;
    const double middle = low - kBelow - entry.y - 4;
    const Colour& colour = colour_of(entry.series->colour);
    picture.ink(entry.series->marks ? fill(colour) + dot(from + kSample / 2, middle, 1.6)
                                    : "1 w " + stroke(colour) + at(from, middle, 'm') +
                                          at(from + kSample, middle, 'l') + "S\n");
    picture.label(from + kSample + 4, middle, "l",
                  "\\scriptsize " + escape_latex(entry.series->label));
  }
  return picture.end();
}

std::string latex_card_plot(const Plot& plot, bool legend) {
  if (!has_something(plot)) return "{\\tiny The time is zero everywhere.}\n";
  const auto curves = std::ranges::count(plot.series, false, &PlotSeries::marks);
  const bool named = legend && curves > 1;
  const Axis x = x_axis(plot, kCardLeft, kCardWidth - 8);
  const Axis y = y_axis(plot, kCardBelow, kCardBelow + kCardFrame);
  Picture picture(kCardWidth, y.to + (named ? kCardLegend : 0) + 3);
  draw_framed(plot, x, y, kTicksOfCard, "\\tiny ", picture);
  double from = x.from;
  for (const PlotSeries& series : plot.series) {
    if (!named || series.marks) continue;
    const double middle = y.to + kCardLegend / 2 + 1;
    picture.ink("1 w " + stroke(colour_of(series.colour)) + at(from, middle, 'm') +
                at(from + kCardSample - 2, middle, 'l') + "S\n");
    picture.label(from + kCardSample, middle, "l", "\\tiny " + escape_latex(series.label));
    from += kCardSample + 6 + kCardLetter * static_cast<double>(series.label.size());
  }
  return picture.end();
}

std::string latex_legend(const std::vector<PlotSeries>& series) {
  std::string out;
  for (const PlotSeries& each : series) {
    Picture sample(kSample, 5);
    sample.ink("1 w " + stroke(colour_of(each.colour)) + at(0, 2.5, 'm') + at(kSample, 2.5, 'l') +
               "S\n");
    out += sample.end() + "~" + escape_latex(each.label) + "\\qquad\n";
  }
  return out;
}

std::string latex_surface(const SheetSurface& surface, PlotWidth width) {
  const auto positive = [](const auto& points) {
    return std::ranges::all_of(points, [](const SurfacePoint& p) { return p.z > 0; });
  };
  if (!std::ranges::all_of(surface.rows, positive) || !positive(surface.points)) return "";
  const SurfaceAxes axes = axes_of(surface);
  const bool half = width == PlotWidth::half;
  const View view = half ? View{182, 138} : View{340, 190};
  Picture picture(half ? kHalfWidth : kWholeWidth, view.height + kAbove + kBelowSurface);
  picture.out += fmt::format("\\put({},{}){{%\n", kLeft, kBelowSurface);
  Picture inner(0, 0);
  draw_box(surface, axes, view, inner);
  std::string facets = "0.2 w " + stroke({0.13, 0.26, 0.46});
  for (const Facet& facet : facets_of(surface, axes, view)) facets += facet.operators;
  inner.ink(facets);
  std::string dots = fill(kSeries[1]);
  for (const SurfacePoint& p : surface.points) {
    const View::Point seen = view.of(axes.x.place(p.x), axes.y.place(p.y), axes.z.place(p.z));
    dots += dot(seen.x, seen.y, kDot);
  }
  if (!surface.points.empty()) inner.ink(dots);
  picture.out += inner.end() + "}\n";
  return picture.end();
}

}  // namespace foretrace::views
