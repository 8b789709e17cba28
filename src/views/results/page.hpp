// A whole study on one page that needs no other file: what was asked, what was run and where, what
// is missing, graphs, a table; and its run times as a script for gnuplot.
//
// Draws only; results/query.hpp and results/scaling.hpp compute.
#pragma once

#include <string>

#include "results/query.hpp"
#include "results/scaling.hpp"
#include "results/spread.hpp"
#include "results/surface.hpp"
#include "views/draw/picture.hpp"

namespace foretrace::views {

struct StudyPage {
  std::string title;  // the file
  std::string where;  // the condition that picked the rows; "": all
  results::Account account;
  results::Table points;  // medians, without recordings
  results::Scaling scaling;
  std::vector<results::Surface> surfaces = {};  // over two columns
  std::vector<results::Spread> spreads = {};    // from launch to launch
};

std::string render_html_study(const StudyPage& page);
// Run time over ranks, one for each group. Throws UsageError where nothing can be drawn.
std::vector<Picture> draw_study(const StudyPage& page);
// The same as a script with the data in it, into NAME.svg. Throws UsageError likewise.
std::string render_gnuplot_study(const StudyPage& page, const std::string& name);

}  // namespace foretrace::views
