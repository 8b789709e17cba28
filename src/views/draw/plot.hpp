// Plots of lines and marks over a logarithmic axis, as SVG and as text.
//
// The same plot gives the same bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::views {

struct PlotPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // low = high = y: no band
};
struct PlotSeries {
  std::string label;
  bool marks = false;  // points with bars, not a line with a band
  int colour = 0;      // series of the same ranks have the same one
  std::vector<std::vector<PlotPoint>> pieces;
};
// x is logarithmic with base 2, y with base 10 if log_y.
struct Plot {
  std::string title;
  std::string x_label, y_label;
  bool log_y = true;
  std::vector<PlotSeries> series;
  std::string function;  // whose plot it is
};

// An <svg> element for a page that has the style of the plots. Of lines that lie on each other the
// lower ones are wider.
std::string render_svg_plot(const Plot& plot);
// The same as a block that can be moved sideways where the screen is narrow.
std::string render_svg_figure(const Plot& plot);
std::string_view svg_plot_style();
// A file of its own, light or dark.
std::string render_svg_file(const Plot& plot);
// `width` and `height` in characters, axes and legend included.
std::string render_text_plot(const Plot& plot, std::size_t width, std::size_t height);

}  // namespace foretrace::views
