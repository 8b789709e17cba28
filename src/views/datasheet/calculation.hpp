// What `calc` answers: the time of one call, tables, and plots of any functions of a model.
//
// From a model or its data sheet to text; the command line chooses ranks and sizes.
#pragma once

#include <span>
#include <string>

#include "analysis/datasheet.hpp"
#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {

// The equation of the interval that holds `bytes`, in the model's units, as one line.
std::string describe_equation(const machine::MachineModel& model, const machine::Function& function,
                              Bytes bytes);

// How far to trust that time, a line each: the share of times that minimum and maximum hold,
// and that it is extrapolated. "" where there is nothing to say.
std::string remarks_on(const machine::MachineModel& model, const machine::Function& function,
                       int ranks, Bytes bytes);

// Every time on the sheet: one line for each function, number of ranks and size, but one for
// all ranks or all sizes where it does not depend on them.
std::string render_times(const analysis::Datasheet& sheet);

// The span that is plotted: sizes if they differ, for each of `ranks`; otherwise ranks, for the
// one size. Both ascending and not empty.
struct PlotRange {
  std::vector<int> ranks;
  std::vector<Bytes> bytes;

  bool over_bytes() const { return bytes.size() > 1; }
};

inline constexpr std::size_t kMostPlotSeries = 12;

// One series for each function, and for each number of ranks where sizes are plotted and
// the function depends on them. Throws UsageError for more than kMostPlotSeries.
Plot times_plot(const machine::MachineModel& model, std::span<const machine::Function> functions,
                const PlotRange& range);

// A script that draws the same into NAME.svg, with the functions in it.
std::string render_gnuplot_plot(const analysis::Datasheet& sheet, const PlotRange& range,
                                const std::string& name);

}  // namespace foretrace::views
