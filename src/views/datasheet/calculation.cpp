#include "views/datasheet/calculation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {

using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using analysis::SheetTime;
using machine::Function;
using machine::MachineModel;

std::string describe_equation(const MachineModel& model, const Function& function, Bytes bytes) {
  const machine::Regime& regime = machine::regime_for(function, bytes);
  return plain_text(fmt::format("t = {} {}, d in {}, for {}", equation_cell(function, regime, 0),
                                unit_name(model), data_unit(model), format_interval(regime)));
}

std::string remarks_on(const MachineModel& model, const Function& function, int ranks,
                       Bytes bytes) {
  std::string out;
  const machine::Beyond beyond = beyond_measured(model, function, ranks, bytes);
  const auto& interval = machine::regime_for(function, bytes).equation.interval;
  if (function.of_untouched)
    out += fmt::format("{:.3g} times the equation's, as with untouched data\n",
                       machine::untouched_factor(function, bytes));
  if (!function.corrections.empty())
    out += fmt::format("m = {:.4g}, by what was measured at the sizes and ranks around\n",
                       machine::correction_factor(function, ranks, bytes));
  // Beyond them nothing was measured that could lie there.
  if (interval && !beyond.any())
    out += format_percent(interval->coverage) + " of measured times lie from min to max\n";
  const char* what = beyond.ranks && beyond.bytes ? "ranks and size"
                     : beyond.ranks               ? "ranks"
                                                  : "size";
  const bool nothing =
      machine::evaluate_seconds(model, function, ranks, bytes, machine::Bound::avg) <= 0;
  if (beyond.any())
    out += fmt::format("extrapolated: {} outside what the model says was measured{}\n", what,
                       nothing ? "; the equation is not above 0 there, which is taken as 0" : "");
  return out;
}

std::string render_times(const Datasheet& sheet) {
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
  table.add({"function", "p", "bytes", "min", "avg", "max"});
  bool beyond = false;
  for (const SheetFunction& each : sheet.functions)
    for (const SheetTime& time : each.times) {
      beyond = beyond || time.beyond;
      table.add({plain_text(each.function.name),
                 each.group == SheetGroup::point_to_point ? "any" : fmt::format("{}", time.ranks),
                 each.group == SheetGroup::no_data ? "any" : fmt::format("{}", time.bytes.count),
                 plain_text(format_seconds(time.min)),
                 plain_text(format_seconds(time.avg) + (time.beyond ? " *" : "  ")),
                 plain_text(format_seconds(time.max))});
    }
  std::string out = table.render(0);
  if (beyond) out += "* extrapolated: outside what the model says was measured\n";
  return out;
}

Plot times_plot(const MachineModel& model, std::span<const Function> functions,
                const PlotRange& range) {
  Plot plot;
  plot.title = model.name;
  plot.x_label = range.over_bytes() ? "bytes" : "ranks";
  plot.y_label = "time in " + unit_name(model);
  const auto add = [&](std::string label, const analysis::SheetCurve& curve) {
    if (plot.series.size() == kMostPlotSeries)
      throw UsageError(fmt::format(
          "more than {} curves in one plot; name fewer functions or fewer ranks", kMostPlotSeries));
    PlotSeries series{std::move(label), false, static_cast<int>(plot.series.size()), {}};
    for (const auto& piece : curve.pieces) {
      series.pieces.emplace_back();
      for (const analysis::CurvePoint& p : piece)
        series.pieces.back().push_back(
            {p.x, p.avg / model.time_unit, p.min / model.time_unit, p.max / model.time_unit});
    }
    plot.series.push_back(std::move(series));
  };
  const std::uint64_t least = std::max<std::uint64_t>(range.bytes.front().count, 1);
  for (const Function& function : functions) {
    if (!range.over_bytes()) {
      add(function.name, analysis::curve_over_ranks(model, function, range.bytes.front(),
                                                    range.ranks.front(), range.ranks.back()));
      continue;
    }
    const bool one = range.ranks.size() == 1 || !analysis::depends_on_ranks(function);
    for (const int ranks : one ? std::span(range.ranks).first(1) : std::span(range.ranks))
      add(one ? function.name : fmt::format("{}, p = {}", function.name, ranks),
          analysis::curve_over_bytes(model, function, ranks, Bytes(least), range.bytes.back()));
  }
  return plot;
}

}  // namespace foretrace::views
