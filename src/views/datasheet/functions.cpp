#include "views/datasheet/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "views/datasheet/measurement.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using analysis::SheetTime;
using machine::Regime;

constexpr double kPoorQ = 0.01;
constexpr std::size_t kSurfaceStep = 4;

void add_regimes(const Datasheet& sheet, const SheetFunction& each, int digits,
                 SheetDocument& document) {
  const std::string unit = unit_name(sheet.model);
  SheetTable table;
  table.header = {"message size", "t(p, d) in " + unit, "Q", "residual in " + unit};
  table.text_columns = 2;
  for (const Regime& regime : each.function.regimes)
    table.rows.push_back({format_interval(regime), equation_cell(each.function, regime, digits),
                          q_cell(regime),
                          regime.residual ? format_digits(*regime.residual, 3) : kUnknown});
  document.blocks.push_back(std::move(table));
}

// Sizes down, ranks across.
void add_corrections(const SheetFunction& each, SheetDocument& document) {
  const std::vector<machine::Correction>& known = each.function.corrections;
  if (known.empty()) return;
  std::map<Bytes, std::vector<std::string>> rows;
  SheetTable table;
  table.caption =
      "m: what was measured, as a multiple of the equation; between these sizes and ranks it "
      "changes evenly with their logarithms";
  table.header = {"bytes"};
  table.text_columns = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    table.header.push_back(
        each.group == SheetGroup::point_to_point ? "m" : fmt::format("p = {}", known[i].ranks));
    for (const machine::SizeFactor& at : known[i].factors) {
      std::vector<std::string>& row = rows[at.bytes];
      row.resize(known.size(), kUnknown);
      row[i] = format_digits(at.factor, 4);
    }
  }
  for (auto& [bytes, row] : rows) {
    row.insert(row.begin(), fmt::format("{}", bytes.count));
    table.rows.push_back(std::move(row));
  }
  document.blocks.push_back(std::move(table));
}

std::string curve_label(const SheetFunction& each, int ranks) {
  if (each.group == SheetGroup::collective) return fmt::format("p = {}", ranks);
  return "equation";
}

std::string point_label(const SheetFunction& each, int ranks) {
  if (each.group == SheetGroup::collective) return fmt::format("p = {}, measured", ranks);
  return "measured";
}

bool shown_with(const SheetFunction& each, const analysis::SheetCurve& curve,
                const analysis::MeasuredPoint& point) {
  return each.group != SheetGroup::collective || point.ranks == curve.ranks;
}

double x_of(const SheetFunction& each, const analysis::MeasuredPoint& point) {
  return each.group == SheetGroup::no_data ? point.ranks : static_cast<double>(point.bytes.count);
}

struct FunctionPlots {
  Plot times, residuals;
};

FunctionPlots plots_of(const Datasheet& sheet, const SheetFunction& each) {
  const double unit = sheet.model.time_unit;
  const std::string x = each.group == SheetGroup::no_data ? "ranks" : "bytes";
  const std::string& name = each.function.name;
  FunctionPlots plots{
      {name, x, "time in " + unit_name(sheet.model), true, {}, name},
      {name + ": what the fit leaves", x, "measured - equation, %", false, {}, name}};
  int colour = 0;
  for (const analysis::SheetCurve& curve : each.curves) {
    PlotSeries line{curve_label(each, curve.ranks), false, colour, {}};
    for (const auto& piece : curve.pieces) {
      line.pieces.emplace_back();
      for (const analysis::CurvePoint& p : piece)
        line.pieces.back().push_back({p.x, p.avg / unit, p.min / unit, p.max / unit});
    }
    PlotSeries points{point_label(each, curve.ranks), true, colour, {{}}};
    PlotSeries residuals = points;
    for (const analysis::MeasuredPoint& p : each.measured) {
      const double at = x_of(each, p);
      if (!shown_with(each, curve, p) || at == 0) continue;
      points.pieces[0].push_back({at, p.median / unit, p.low / unit, p.high / unit});
      const auto percent = [&](double seconds) { return 100 * (seconds - p.fitted) / p.fitted; };
      if (p.fitted > 0)
        residuals.pieces[0].push_back({at, percent(p.median), percent(p.low), percent(p.high)});
    }
    plots.times.series.push_back(std::move(line));
    if (!points.pieces[0].empty()) plots.times.series.push_back(std::move(points));
    if (!residuals.pieces[0].empty()) plots.residuals.series.push_back(std::move(residuals));
    ++colour;
  }
  return plots;
}

bool has_interval(const machine::Function& function) {
  return std::ranges::any_of(function.regimes,
                             [](const Regime& r) { return r.equation.interval.has_value(); });
}

void add_bounds(const SheetFunction& each, SheetDocument& document) {
  const bool interval = has_interval(each.function);
  if (!interval && !analysis::has_errors(each.function)) return;
  SheetTable table;
  table.caption = interval ? "Times, and the intervals in which measured times are expected"
                           : "Times with all coefficients one standard error lower and higher";
  table.header = {"p", "bytes", "minimum", "time", "maximum"};
  table.text_columns = 0;
  for (const SheetTime& t : each.times)
    table.rows.push_back({fmt::format("{}", t.ranks), fmt::format("{}", t.bytes.count),
                          format_seconds(t.min), time_cell(t), format_seconds(t.max)});
  document.blocks.push_back(std::move(table));
}

void add_raw(const SheetFunction& each, SheetDocument& document) {
  if (each.measured.empty()) return;
  SheetTable table;
  table.caption =
      fmt::format("Raw data of {}: medians and quartiles of the samples", each.function.name);
  table.header = {"p",      "bytes",          "samples",  "lower quartile",
                  "median", "upper quartile", "equation", "median - equation"};
  table.text_columns = 0;
  table.raw = true;
  for (const analysis::MeasuredPoint& m : each.measured)
    table.rows.push_back(
        {fmt::format("{}", m.ranks), fmt::format("{}", m.bytes.count), fmt::format("{}", m.samples),
         format_seconds(m.low), format_seconds(m.median), format_seconds(m.high),
         format_seconds(m.fitted),
         (m.fitted > 0 ? format_percent((m.median - m.fitted) / m.fitted) : kUnknown) +
             (m.disturbed ? " !" : "")});
  document.blocks.push_back(std::move(table));
}

// What it is, and where its figures are not Foretrace's own, how they came to be.
std::string meaning_of(const SheetFunction& each) {
  if (each.function.method.empty()) return each.meaning;
  return each.meaning + (each.meaning.empty() ? "Here: " : " Here: ") + each.function.method + ".";
}

std::string remarks(const Datasheet& sheet, const SheetFunction& each) {
  std::string out = meaning_of(each);
  const auto add = [&](std::string_view text) {
    out += (out.empty() ? "" : " ") + std::string(text);
  };
  if (each.group == SheetGroup::point_to_point)
    add("Evaluated with p = 2.");
  else if (!each.measured.empty() && each.measured.front().ranks == each.measured.back().ranks)
    add(
        fmt::format("Measured with p = {} alone: what the equation says of other numbers of ranks "
                    "means nothing.",
                    each.measured.front().ranks));
  if (std::ranges::any_of(each.function.regimes,
                          [](const Regime& r) { return r.q && *r.q < kPoorQ; }))
    add("Where Q is below 0.01 the equation leaves out something that the measurement saw.");
  if (!each.measured.empty() && each.group != SheetGroup::no_data &&
      std::ranges::any_of(each.measured, [](const auto& m) { return m.bytes.count == 0; }))
    add("Empty messages stand in the raw data, not in the plots.");
  if (const std::string how = measured_with(sheet, each); !how.empty()) add(how);
  return out;
}

// What is reported beside the equations, and used for nothing.
void add_baseline(const Datasheet& sheet, const SheetFunction& each, int digits,
                  SheetDocument& document) {
  if (each.function.baseline.empty()) return;
  SheetTable table;
  table.caption = "To compare with, the best of the papers' 12 forms";
  table.header = {"message size", "t(p, d) in " + unit_name(sheet.model), "chi-squared", "Q"};
  table.text_columns = 2;
  for (const Regime& regime : each.function.baseline)
    table.rows.push_back(
        {format_interval(regime), format_equation(regime.equation, digits),
         regime.chi_squared
             ? format_digits(*regime.chi_squared, 3) +
                   (regime.degrees_of_freedom ? fmt::format(" / {}", *regime.degrees_of_freedom)
                                              : std::string())
             : std::string(kUnknown),
         q_cell(regime)});
  document.blocks.push_back(std::move(table));
}

void add_surface(const Datasheet& sheet, const SheetFunction& each, SheetDocument& document) {
  const double unit = sheet.model.time_unit;
  SheetSurface surface;
  surface.title = each.function.name + " over ranks and sizes";
  surface.z_label = "time in " + unit_name(sheet.model);
  for (const analysis::SheetCurve& curve : each.surface) {
    surface.rows.emplace_back();
    for (const auto& piece : curve.pieces)
      for (std::size_t i = 0; i < piece.size(); ++i)
        // Each doubling, and the ends of each interval, are enough to see its shape.
        if (i % kSurfaceStep == 0 || i + 1 == piece.size())
          surface.rows.back().push_back(
              {piece[i].x, static_cast<double>(curve.ranks), piece[i].avg / unit});
  }
  for (const analysis::MeasuredPoint& m : each.measured)
    if (m.bytes.count > 0)
      surface.points.push_back(
          {static_cast<double>(m.bytes.count), static_cast<double>(m.ranks), m.median / unit});
  if (surface.rows.size() > 1) document.blocks.push_back(std::move(surface));
}

void add_function(const Datasheet& sheet, const SheetFunction& each, int digits,
                  SheetDocument& document) {
  // On paper what was measured fills pages of its own; equations alone share them.
  document.blocks.push_back(Heading{2, each.function.name, !each.measured.empty()});
  if (const std::string text = remarks(sheet, each); !text.empty())
    document.blocks.push_back(Paragraph{text});
  FunctionPlots plots = plots_of(sheet, each);
  for (Plot* plot : {&plots.times, &plots.residuals})
    if (!plot->series.empty()) document.blocks.push_back(std::move(*plot));
  add_surface(sheet, each, document);
  add_regimes(sheet, each, digits, document);
  add_corrections(each, document);
  add_baseline(sheet, each, digits, document);
  add_bounds(each, document);
  add_raw(each, document);
}

}  // namespace

void add_functions(const Datasheet& sheet, int digits, SheetDocument& document) {
  if (!sheet.functions.empty()) document.blocks.push_back(Heading{1, "Functions", true});
  for (const SheetFunction& each : sheet.functions) add_function(sheet, each, digits, document);
}

void add_gallery(const Datasheet& sheet, SheetDocument& document) {
  SheetGallery gallery;
  for (const SheetFunction& each : sheet.functions) {
    SheetCard card{plots_of(sheet, each).times, meaning_of(each), ""};
    if (is_invalid(sheet, each.function.name))
      card.remark = "invalid";
    else if (each.function.held_out)
      card.remark = "errs by " + format_percent(each.function.held_out->mean);
    else if (each.group == SheetGroup::no_data)
      card.remark = "over the ranks";
    if (!card.plot.series.empty()) gallery.cards.push_back(std::move(card));
  }
  if (gallery.cards.empty()) return;
  gallery.heading = Heading{1, "Functions"};
  gallery.text = Paragraph{fmt::format(
      "Time in {} over the message size in bytes, or over the number of ranks. Lines are the "
      "equations, with the band from minimum to maximum{}. Both axes are logarithmic. \"Errs by\" "
      "is the mean relative error at sizes that the fit did not see.",
      unit_name(sheet.model),
      sheet.has_samples ? "; dots are the medians of what was measured, with their quartiles"
                        : "")};
  document.blocks.push_back(std::move(gallery));
}

}  // namespace foretrace::views
