#include <fmt/format.h>

#include <algorithm>

#include "views/datasheet.hpp"
#include "views/datasheet_measurement.hpp"
#include "views/datasheet_notes.hpp"
#include "views/datasheet_numbers.hpp"
#include "views/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using analysis::SheetTime;
using machine::MachineModel;
using machine::Regime;

constexpr double kPoorQ = 0.01;
constexpr double kLeastQ = 1e-6;  // smaller ones say nothing more
constexpr const char* kUnknown = "-";
constexpr std::size_t kSurfaceStep = 4;

void add_run_parameters(const Datasheet& sheet, SheetDocument& document) {
  const MachineModel& model = sheet.model;
  SheetTable table;
  table.header = {"", ""};
  table.text_columns = 2;
  const auto row = [&](const char* key, const std::string& value) {
    table.rows.push_back({key, value.empty() ? kUnknown : value});
  };
  row("machine", model.name);
  row("MPI library", model.mpi_library);
  row("measured", model.date);
  row("source", model.source);
  row("most ranks", model.ranks > 0 ? fmt::format("{}", model.ranks) : "");
  row("timer resolution", model.timer_resolution > 0 ? format_seconds(model.timer_resolution) : "");
  row("time in the equations", unit_name(model));
  row("d in the equations", data_unit(model));
  row("compute step", model.compute_step > 0 ? format_seconds(model.compute_step) : "");
  document.blocks.push_back(Heading{1, "Run parameters"});
  document.blocks.push_back(std::move(table));
}

// Functions of one group at one number of ranks; those without data at all ranks.
SheetTable times_table(const Datasheet& sheet, SheetGroup group, int ranks) {
  SheetTable table;
  table.header = {"function"};
  if (group == SheetGroup::no_data) {
    table.caption = "Functions without data, t(p), by the number of ranks p";
    for (const int p : sheet.ranks) table.header.push_back(fmt::format("p = {}", p));
  } else {
    table.caption = group == SheetGroup::point_to_point
                        ? "Point-to-point functions, t(2, d), by the size of the message"
                        : fmt::format("Collective functions, t({}, d), by d in bytes", ranks);
    for (const Bytes bytes : sheet.bytes) table.header.push_back(format_bytes(bytes));
  }
  for (const SheetFunction& each : sheet.functions) {
    if (each.group != group) continue;
    std::vector<std::string> row{each.function.name +
                                 (is_invalid(sheet, each.function.name) ? " (invalid)" : "")};
    for (const SheetTime& time : each.times)
      if (group != SheetGroup::collective || time.ranks == ranks) row.push_back(time_cell(time));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_summary(const Datasheet& sheet, SheetDocument& document) {
  document.blocks.push_back(Heading{1, "Times"});
  const auto add = [&](SheetTable table) {
    if (!table.rows.empty()) document.blocks.push_back(std::move(table));
  };
  const std::uint64_t element = sheet.model.element.count;
  document.blocks.push_back(Paragraph{
      fmt::format("What one call takes: the equation of the size's interval at that p and at d = "
                  "{}. An asterisk "
                  "marks what lies outside the ranks{} that are known to have been measured{}.",
                  element == 1 ? std::string("the bytes") : fmt::format("bytes / {}", element),
                  sheet.knows_sizes ? " and sizes" : "",
                  sheet.knows_sizes ? "" : "; the model does not say up to which sizes that was")});
  add(times_table(sheet, SheetGroup::point_to_point, 2));
  for (const int ranks : sheet.ranks) add(times_table(sheet, SheetGroup::collective, ranks));
  add(times_table(sheet, SheetGroup::no_data, 0));
  document.blocks.push_back(PlotOfAnything());
}

std::string q_cell(const Regime& regime) {
  if (!regime.q) return kUnknown;
  const bool tiny = 0 < *regime.q && *regime.q < kLeastQ;
  return tiny ? fmt::format("< {:g}", kLeastQ) : fmt::format("{:.2g}", *regime.q);
}

// The equations of one regime of each function.
template <class Choose>
SheetTable equation_table(const Datasheet& sheet, int digits, std::string caption, Choose choose) {
  SheetTable table;
  table.caption = std::move(caption);
  table.header = {"function", "time in " + unit_name(sheet.model), "holds for", "Q"};
  table.text_columns = 3;
  for (const SheetFunction& each : sheet.functions)
    if (const Regime* regime = choose(each))
      table.rows.push_back({each.function.name, format_equation(regime->equation, digits),
                            format_interval(*regime), q_cell(*regime)});
  return table;
}

void add_equations(const Datasheet& sheet, int digits, SheetDocument& document) {
  document.blocks.push_back(Heading{1, "Equations"});
  document.blocks.push_back(Paragraph{fmt::format(
      "p is the number of ranks, d the message size in {}, ln the natural logarithm. {}",
      data_unit(sheet.model),
      digits > 0
          ? fmt::format("Coefficients have {} significant digit{}.", digits, digits == 1 ? "" : "s")
          : "Coefficients have the digits that their standard errors justify, all where "
            "there is none.")});
  const auto has_data = [](const SheetFunction& f) { return f.group != SheetGroup::no_data; };
  const bool split = std::ranges::any_of(sheet.functions, [&](const SheetFunction& f) {
    return has_data(f) && f.function.regimes.size() > 1;
  });
  const auto small = [&](const SheetFunction& f) {
    return has_data(f) ? &regime_for(f.function, sheet.model.element) : nullptr;
  };
  const auto large = [&](const SheetFunction& f) {
    return has_data(f) ? &f.function.regimes.back() : nullptr;
  };
  const auto add = [&](SheetTable table) {
    if (!table.rows.empty()) document.blocks.push_back(std::move(table));
  };
  if (split) {
    add(equation_table(sheet, digits,
                       "Small messages: the interval that holds one element. Functions with one "
                       "equation stand in both tables.",
                       small));
    add(equation_table(sheet, digits, "Large messages: the last interval", large));
  } else {
    add(equation_table(sheet, digits, "Messages of all sizes", large));
  }
  add(equation_table(sheet, digits, "Barrier type routines: no data",
                     [&](const SheetFunction& f) -> const Regime* {
                       return has_data(f) ? nullptr : &f.function.regimes.back();
                     }));
}

std::string full_cell(const machine::Coefficient& c, std::string_view factor) {
  std::string out = format_full(c.value);
  if (c.error != 0) out += " ± " + format_full(c.error);
  if (factor == name_of(machine::Factor::one)) return out;
  std::string form(factor);
  if (const std::size_t at = form.find("^2"); at != std::string::npos) form.replace(at, 2, "²");
  return out + " (" + form + ")";
}

void add_regimes(const Datasheet& sheet, const SheetFunction& each, int digits,
                 SheetDocument& document) {
  const std::string unit = unit_name(sheet.model);
  SheetTable table;
  table.header = {"message size", "t(p, d) in " + unit, "Q", "residual in " + unit};
  table.text_columns = 2;
  SheetTable full;
  full.caption = "The coefficients with up to nine digits, and what they multiply";
  full.header = {"message size", "coefficients"};
  full.text_columns = 2;
  for (const Regime& regime : each.function.regimes) {
    const machine::Equation& e = regime.equation;
    table.rows.push_back({format_interval(regime), format_equation(e, digits), q_cell(regime),
                          regime.residual ? format_digits(*regime.residual, 3) : kUnknown});
    for (const machine::TermSum& sum : e.sums()) {
      std::string cell;
      for (const machine::Term& term : sum.terms)
        cell += (cell.empty() ? "" : "; ") + full_cell(term.coefficient, name_of(term.factor));
      if (sum.ranks != machine::RankSet::all)
        cell += sum.ranks == machine::RankSet::others ? "; other p" : "; p a power of two";
      full.rows.push_back({format_interval(regime), cell.empty() ? "0" : cell});
    }
  }
  document.blocks.push_back(std::move(table));
  if (digits > 0 || analysis::has_errors(each.function)) document.blocks.push_back(std::move(full));
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

void add_plots(const Datasheet& sheet, const SheetFunction& each, SheetDocument& document) {
  const double unit = sheet.model.time_unit;
  const std::string x = each.group == SheetGroup::no_data ? "ranks" : "bytes";
  SheetPlot times{each.function.name, x, "time in " + unit_name(sheet.model), true, {},
                  each.function.name};
  SheetPlot rest{each.function.name + ": what the fit leaves",
                 x,
                 "measured - equation, %",
                 false,
                 {},
                 each.function.name};
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
    times.series.push_back(std::move(line));
    if (!points.pieces[0].empty()) times.series.push_back(std::move(points));
    if (!residuals.pieces[0].empty()) rest.series.push_back(std::move(residuals));
    ++colour;
  }
  if (!times.series.empty()) document.blocks.push_back(std::move(times));
  if (!rest.series.empty()) document.blocks.push_back(std::move(rest));
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

std::string remarks(const Datasheet& sheet, const SheetFunction& each) {
  std::string out = each.meaning;
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
  add_plots(sheet, each, document);
  add_surface(sheet, each, document);
  add_regimes(sheet, each, digits, document);
  add_baseline(sheet, each, digits, document);
  add_bounds(each, document);
  add_raw(each, document);
}

// Columns in which nothing is known of any row say nothing.
void leave_out_unknown(SheetTable& table) {
  for (std::size_t c = table.header.size(); c-- > 1;) {
    if (table.rows.empty() || std::ranges::any_of(table.rows, [&](const auto& row) {
          return !row.at(c).empty() && row.at(c) != kUnknown;
        }))
      continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.header.erase(table.header.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    if (c < table.text_columns) --table.text_columns;
  }
}

}  // namespace

SheetDocument datasheet_document(const Datasheet& sheet, int digits) {
  SheetDocument document;
  document.title = "MPI data sheet: " + title_of(sheet.model);
  add_run_parameters(sheet, document);
  if (sheet.functions.empty()) {
    document.blocks.push_back(Paragraph{"The model holds no function."});
  } else {
    add_summary(sheet, document);
    add_errors(sheet, document);
    add_equations(sheet, digits, document);
  }
  add_loggps(sheet, document);
  add_computation(sheet, document);
  add_measurement(sheet, document);
  if (!sheet.functions.empty()) document.blocks.push_back(Heading{1, "Functions", true});
  for (const SheetFunction& each : sheet.functions) add_function(sheet, each, digits, document);
  add_notes(document);
  for (SheetBlock& block : document.blocks)
    if (auto* table = std::get_if<SheetTable>(&block)) leave_out_unknown(*table);
  return document;
}

}  // namespace foretrace::views
