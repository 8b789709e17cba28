// A picture of areas, lines, dots and texts, drawn once and written as SVG or PDF; one of a
// surface can be turned on a page.
//
// Between charts (charts.hpp, surface.hpp) and files; knows nothing of what it shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::views {

struct Spot {
  double x = 0, y = 0;  // from the left and the top
};
// In the unit cube of a surface; z goes up.
struct Spot3 {
  double x = 0, y = 0, z = 0;
};

enum class Anchor { begin, middle, end };

struct Shape {
  enum class Kind { area, line, dot, text };
  Kind kind = Kind::line;
  std::vector<Spot> at;
  std::string colour;  // "#rrggbb"; "": that of the page's text, or of its grid for lines
  std::string text;    // of an area, a dot: what is told of it on hover
  Anchor anchor = Anchor::begin;
  bool heavy = false;        // texts: bold; lines: that of a curve
  bool upright = false;      // texts: turned by 90 degrees
  std::vector<Spot3> space;  // where it stands in a surface; empty: it does not turn
};

struct Picture {
  double width = 720, height = 330;
  std::vector<Shape> shapes;
};

// One below the other.
Picture stacked(const std::vector<Picture>& pictures);

// An element for a page that has svg_plot_style() and picture_style().
std::string render_svg_picture(const Picture& picture);
std::string_view picture_style();
// A file of its own, light or dark.
std::string render_svg_file(const Picture& picture);
// A page for each; letters beyond ASCII become "?".
std::string render_pdf(const std::vector<Picture>& pictures);

}  // namespace foretrace::views
