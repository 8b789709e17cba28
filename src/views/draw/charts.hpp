// Charts of studies and models: stacked bars, heat maps over two parameters, distributions.
//
// Draw only: bars as SVG elements for a page that has svg_plot_style() and chart_style(), the
// others as pictures (picture.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "views/draw/picture.hpp"
#include "views/draw/plot.hpp"

namespace foretrace::views {

struct StackedBars {
  std::string title, x_label, y_label;
  std::vector<std::string> columns;
  struct Part {
    std::string label;
    std::vector<double> values;  // by column; nothing below zero is drawn
  };
  std::vector<Part> parts;  // the first at the bottom
};
std::string render_stacked_svg(const StackedBars& bars);

struct HeatMap {
  std::string title, x_label, y_label, value_label;
  std::vector<std::string> columns, rows;
  std::vector<std::optional<double>> values;  // row by row
  bool log = true;                            // of the colours; where all values are above zero
};
Picture draw_heat_map(const HeatMap& map);

// Values that vary from launch to launch: a box with their median and their middle half, and a dot
// for each.
struct SpreadBox {
  std::string label;
  std::vector<double> values;  // rising, one at least
  double lower = 0, median = 0, upper = 0;
};
struct SpreadPlot {
  std::string title, x_label, y_label;
  std::vector<SpreadBox> boxes;
};
Picture draw_spread(const SpreadPlot& plot);

// Lines over ranks for files that are SVG or PDF alone; pages have render_svg_figure().
Picture draw_lines(const Plot& plot);

// From dark blue at 0 to yellow at 1, in steps that can be told apart without colours.
std::string heat_colour(double share);

std::string_view chart_style();
// An element of the above as a file.
std::string svg_file(std::string element);

}  // namespace foretrace::views
