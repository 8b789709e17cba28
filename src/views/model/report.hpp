// What an analytical model says at one point, or at many: as text, JSON, CSV, a page, a picture
// and a script for gnuplot.
//
// Draws only; formulas/sweep.hpp computes.
#pragma once

#include <string>

#include "formulas/sweep.hpp"

namespace foretrace::views {

struct ModelReport {
  std::string model;      // the file
  std::string machine;    // its name; "" for none
  formulas::Values at;    // what was given
  formulas::Sweep sweep;  // without axes: one point
};

std::string render_text_model(const ModelReport& report);
// One object with model, machine, at, total and phases (by name), each with min, avg and max in
// seconds; notes. For a sweep an array of them, with speedup where it is known.
std::string render_json_model(const ModelReport& report);
std::string render_csv_model(const ModelReport& report);
// Bars of the phases, speed-up and times over the first axis that changes; a heat map where
// two do. Throws UsageError where nothing changes.
std::string render_html_model(const ModelReport& report);
// The bars alone.
std::string render_svg_model(const ModelReport& report);
// The same with the data in it, into NAME.svg.
std::string render_gnuplot_model(const ModelReport& report, const std::string& name);

}  // namespace foretrace::views
