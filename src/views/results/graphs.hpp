// Graphs of results over two columns, of ratios of two such surfaces, and of how launches vary: as
// pictures, as parts of a page, and as scripts for gnuplot.
//
// Draws only; results/surface.hpp and results/spread.hpp compute.
#pragma once

#include <string>
#include <vector>

#include "results/spread.hpp"
#include "results/surface.hpp"
#include "views/draw/picture.hpp"

namespace foretrace::views {

// A surface and its heat map.
std::vector<Picture> draw_surfaces(const std::vector<results::Surface>& surfaces);
std::vector<Picture> draw_spreads(const std::vector<results::Spread>& spreads);

// For a page that has svg_plot_style(), picture_style() and, at its end, surface_script().
std::string surfaces_of_page(const std::vector<results::Surface>& surfaces);
std::string spreads_of_page(const std::vector<results::Spread>& spreads);
// "B / A": `surfaces` of the ratio, of A and of B; `figures`: the comparison as text.
std::string render_html_ratio(const std::string& title, const std::string& figures,
                              const std::vector<results::Surface>& surfaces);

// With the data in it, into NAME.svg. `surfaces`, `spreads`: one at least.
std::string render_gnuplot_surfaces(const std::vector<results::Surface>& surfaces,
                                    const std::string& name);
std::string render_gnuplot_spreads(const std::vector<results::Spread>& spreads,
                                   const std::string& name);

}  // namespace foretrace::views
