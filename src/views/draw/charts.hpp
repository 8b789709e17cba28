// Charts of studies and models: stacked bars, and a heat map over two parameters.
//
// Draw only: SVG elements for a page that has svg_plot_style() and chart_style(), or files of
// their own. Lines over ranks are SheetPlots (datasheet.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
std::string render_heat_map_svg(const HeatMap& map);

std::string_view chart_style();
// An element of the above as a file.
std::string svg_file(std::string element);

}  // namespace foretrace::views
