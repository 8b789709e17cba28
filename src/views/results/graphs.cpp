#include "views/results/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "views/datasheet/datasheet.hpp"
#include "views/draw/charts.hpp"
#include "views/draw/gnuplot_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/results/surface.hpp"
#include "views/results/tables.hpp"

namespace foretrace::views {
namespace {

using results::Spread;
using results::Surface;

constexpr std::size_t kMostDrawn = 40;
constexpr std::size_t kMostLines = 32;  // of an axis: more are finer than a picture's dots

using Names = std::vector<std::pair<std::string, std::string>>;

// "life, predict, n = 16"
std::string title_of(const Names& of, const std::string& quantity) {
  std::string out;
  for (const auto& [name, value] : of) {
    const bool plain = name == "program" || name == "way" || name == "machine" || name == "side";
    out += (out.empty() ? "" : ", ") + (plain ? value : name + " = " + value);
  }
  return out.empty() ? quantity : out + ": " + quantity;
}

std::string label_of(const std::string& quantity) {
  return is_time(quantity) ? quantity + " in s" : quantity;
}

// ", 32 of 1000 values of n"
std::string left_out(const std::string& name, std::size_t drawn, std::size_t all) {
  return drawn == all ? "" : fmt::format(", {} of {} values of {}", drawn, all, name);
}

HeatMap map_of(const Surface& surface) {
  HeatMap map{title_of(surface.of, surface.quantity),
              surface.x_name,
              surface.y_name,
              label_of(surface.quantity),
              {},
              {},
              surface.values,
              true};
  for (const double x : surface.x) map.columns.push_back(fmt::format("{:g}", x));
  for (const double y : surface.y) map.rows.push_back(fmt::format("{:g}", y));
  return map;
}

SpreadPlot plot_of(const Spread& spread) {
  SpreadPlot plot{title_of(spread.of, spread.quantity), "ranks", label_of(spread.quantity), {}};
  for (const auto& each : spread.ranks)
    plot.boxes.push_back(
        {std::to_string(each.ranks), each.values, each.lower, each.median, each.upper});
  return plot;
}

std::string more(std::size_t count) {
  return count <= kMostDrawn ? ""
                             : fmt::format("<p>{} more are not drawn: choose with --where.</p>\n",
                                           count - kMostDrawn);
}

// As in our own pictures: logarithmic where values are far apart.
std::string gnuplot_axis(const char* axis, double low, double high) {
  return fmt::format("{}set logscale {}\n", is_wide(low, high) ? "" : "un", axis);
}

std::string gnuplot_axes(const Surface& surface) {
  const auto [low, high] = results::range_of(surface);
  return gnuplot_axis("x", surface.x.front(), surface.x.back()) +
         gnuplot_axis("y", surface.y.front(), surface.y.back()) + gnuplot_axis("z", low, high);
}

std::string gnuplot_head(const std::string& name, const std::string& columns, std::size_t count) {
  return fmt::format(
      "set terminal svg size 800,{} dynamic background 'white'\nset output {}\n# {}\n"
      "set multiplot layout {},1\n",
      560 * count, gnuplot_quoted(name + ".svg"), columns, count);
}

}  // namespace

std::vector<Picture> draw_surfaces(const std::vector<Surface>& surfaces) {
  std::vector<Picture> out;
  for (const Surface& surface : surfaces) {
    const Surface drawn = results::thinned(surface, kMostLines);
    const std::string title = title_of(surface.of, surface.quantity) +
                              left_out(surface.x_name, drawn.x.size(), surface.x.size()) +
                              left_out(surface.y_name, drawn.y.size(), surface.y.size());
    out.push_back(draw_surface(drawn, title, label_of(surface.quantity)));
    out.push_back(draw_heat_map(map_of(drawn)));
  }
  return out;
}

std::vector<Picture> draw_spreads(const std::vector<Spread>& spreads) {
  std::vector<Picture> out;
  for (const Spread& spread : spreads) out.push_back(draw_spread(plot_of(spread)));
  return out;
}

std::string surfaces_of_page(const std::vector<Surface>& surfaces) {
  std::string out;
  for (std::size_t i = 0; i < std::min(surfaces.size(), kMostDrawn); ++i) {
    for (const Picture& picture : draw_surfaces({surfaces[i]})) out += render_svg_picture(picture);
  }
  if (!out.empty()) out += "<p>Drag a surface, or use the arrow keys on it, to turn it.</p>\n";
  return out + more(surfaces.size());
}

std::string spreads_of_page(const std::vector<Spread>& spreads) {
  std::string out;
  for (std::size_t i = 0; i < std::min(spreads.size(), kMostDrawn); ++i)
    out += render_svg_picture(draw_spread(plot_of(spreads[i])));
  return out + more(spreads.size());
}

std::string render_html_ratio(const std::string& title, const std::string& figures,
                              const std::vector<Surface>& surfaces) {
  return begin_page(title, std::string(svg_plot_style()) + std::string(picture_style())) +
         surfaces_of_page(surfaces) + "<h2>Figures</h2>\n<pre>" + escape_html(figures) +
         "</pre>\n" + std::string(surface_script()) + end_page();
}

std::string render_gnuplot_surfaces(const std::vector<Surface>& surfaces, const std::string& name) {
  std::string data;
  std::string plots;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    const Surface& surface = surfaces[i];
    const std::string title = title_of(surface.of, surface.quantity);
    data += fmt::format("$g{} << END\n", i);
    for (std::size_t row = 0; row < surface.y.size(); ++row) {
      for (std::size_t column = 0; column < surface.x.size(); ++column) {
        const auto& value = surface.at(column, row);
        data += fmt::format("{} {} {}\n", surface.x[column], surface.y[row],
                            value ? fmt::format("{}", *value) : "NaN");
      }
      data += "\n";
    }
    data += "END\n";
    plots += fmt::format(
        "{}set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
        "set zlabel {} noenhanced rotate\nsplot $g{} using 1:2:3 with pm3d notitle, "
        "$g{} using 1:2:3 with points pt 7 ps 0.4 lc 'black' notitle\n",
        gnuplot_axes(surface), gnuplot_quoted(title), gnuplot_quoted(surface.x_name),
        gnuplot_quoted(surface.y_name), gnuplot_quoted(label_of(surface.quantity)), i, i);
  }
  return "# gnuplot " + name + ".gp draws " + name + ".svg\n" + data +
         gnuplot_head(
             name,
             "columns: " + surfaces.front().x_name + ", " + surfaces.front().y_name + ", value",
             surfaces.size()) +
         "set pm3d depthorder border lc 'gray40'\nset ticslevel 0\n" + plots + "unset multiplot\n";
}

std::string render_gnuplot_spreads(const std::vector<Spread>& spreads, const std::string& name) {
  std::string data;
  std::string plots;
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    data += fmt::format("$g{} << END\n", i);
    for (const auto& each : spreads[i].ranks)
      for (const double value : each.values) data += fmt::format("{} {}\n", each.ranks, value);
    data += "END\n";
    plots += fmt::format(
        "set title {} noenhanced\nset ylabel {} noenhanced\nset xrange [0.5:{}.5]\n"
        "plot $g{} using (1):2:(0.5):1 with boxplot notitle\n",
        gnuplot_quoted(title_of(spreads[i].of, spreads[i].quantity)),
        gnuplot_quoted(label_of(spreads[i].quantity)), spreads[i].ranks.size(), i);
  }
  return "# gnuplot " + name + ".gp draws " + name + ".svg\n" + data +
         gnuplot_head(name, "columns: ranks, value of a launch", spreads.size()) +
         "set xlabel 'ranks'\nset style boxplot outliers pointtype 7\n" + plots +
         "unset multiplot\n";
}

}  // namespace foretrace::views
