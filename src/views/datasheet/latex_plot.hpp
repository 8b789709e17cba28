// Plots and surfaces for LaTeX, as pictures of PDF operators and labels.
//
// Operators go through \ink, which the preamble defines for pdflatex and lualatex: a hundred plots
// take seconds, where packages that draw take minutes. Between a SheetDocument and the page.
#pragma once

#include <string>
#include <string_view>

#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// Part of a preamble: \ink and what it needs.
std::string_view latex_plot_preamble();

// As wide as half a line, so that two stand side by side, or as most of a line.
enum class PlotWidth { half, whole };

// A picture environment; a sentence where there is nothing to draw.
std::string latex_plot(const Plot& plot, PlotWidth width);
// Three of them fill a line, in big points.
inline constexpr int kCardWidth = 162;
// The plot of a card, without its title; `legend`: of its curves, where there are several.
std::string latex_card_plot(const Plot& plot, bool legend);
// A line that says what each colour is.
std::string latex_legend(const std::vector<PlotSeries>& series);
// "" where a time is zero, which has no place on a logarithmic axis.
std::string latex_surface(const SheetSurface& surface, PlotWidth width);

}  // namespace foretrace::views
