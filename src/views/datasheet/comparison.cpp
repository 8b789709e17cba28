#include <fmt/format.h>

#include <algorithm>

#include "views/datasheet/datasheet.hpp"
#include "views/datasheet/notes.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/datasheet/summary.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::ComparedCall;
using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using machine::MachineModel;
using machine::Regime;

void add_compared_machines(std::span<const Datasheet> sheets, SheetDocument& document) {
  SheetTable table;
  table.header = {"",           "machine",   "MPI library", "measured",
                  "most ranks", "functions", "compute step"};
  table.text_columns = 4;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    const MachineModel& m = sheets[i].model;
    table.rows.push_back(
        {letter_of(i), title_of(m), m.mpi_library.empty() ? kUnknown : m.mpi_library,
         m.date.empty() ? kUnknown : m.date, m.ranks > 0 ? fmt::format("{}", m.ranks) : kUnknown,
         fmt::format("{}", sheets[i].functions.size()),
         m.compute_step > 0 ? format_seconds(m.compute_step) : kUnknown});
  }
  document.blocks.push_back(Heading{1, "Machines"});
  document.blocks.push_back(std::move(table));
}

SheetTable compared_table(std::size_t sheets) {
  SheetTable table;
  table.header = {"p", "bytes"};
  table.text_columns = 0;
  for (std::size_t i = 0; i < sheets; ++i) table.header.push_back(letter_of(i));
  for (std::size_t i = 1; i < sheets; ++i)
    table.header.push_back(fmt::format("{} / A", letter_of(i)));
  return table;
}

std::vector<std::string> compared_row(const analysis::ComparedCall& time) {
  std::vector<std::string> row{fmt::format("{}", time.ranks),
                               time.group == SheetGroup::no_data
                                   ? std::string(kUnknown)
                                   : fmt::format("{}", time.bytes.count)};
  for (const auto& each : time.times) row.push_back(each ? time_cell(*each) : kUnknown);
  for (std::size_t i = 1; i < time.ratios.size(); ++i)
    row.push_back(time.ratios[i] ? format_ratio(*time.ratios[i]) : kUnknown);
  return row;
}

// How many times as long as on A the calls take on one of the others, at a glance.
void add_ratios(std::span<const Datasheet> sheets, std::span<const ComparedCall> rows,
                std::size_t other, SheetDocument& document) {
  const int common = analysis::common_ranks(sheets);
  SheetTable sizes;
  sizes.caption =
      fmt::format("{} / A, by the size of the message; collective functions with p = {}",
                  letter_of(other), common);
  sizes.header = {"function"};
  for (const Bytes bytes : sheets.front().bytes) sizes.header.push_back(format_bytes(bytes));
  SheetTable ranks;
  ranks.caption =
      fmt::format("{} / A of functions without data, by the number of ranks", letter_of(other));
  ranks.header = {"function"};
  for (const int p : sheets.front().ranks) ranks.header.push_back(fmt::format("p = {}", p));
  for (const ComparedCall& row : rows) {
    const auto& ratio = row.ratios[other];
    if (!ratio || (row.group == SheetGroup::collective && row.ranks != common)) continue;
    SheetTable& table = row.group == SheetGroup::no_data ? ranks : sizes;
    if (table.rows.empty() || table.rows.back().front() != row.function) {
      table.rows.emplace_back(table.header.size(), kUnknown);
      table.rows.back().front() = row.function;
    }
    const auto column =
        row.group == SheetGroup::no_data
            ? std::ranges::find(sheets.front().ranks, row.ranks) - sheets.front().ranks.begin()
            : std::ranges::find(sheets.front().bytes, row.bytes) - sheets.front().bytes.begin();
    table.rows.back().at(static_cast<std::size_t>(column) + 1) =
        format_ratio(*ratio) + (row.times[0]->beyond || row.times[other]->beyond ? " *" : "");
  }
  for (SheetTable* table : {&sizes, &ranks})
    if (!table->rows.empty()) document.blocks.push_back(std::move(*table));
}

std::string machine_label(std::span<const Datasheet> sheets, std::size_t machine) {
  return fmt::format("{}: {}", letter_of(machine), title_of(sheets[machine].model));
}

// One curve for each machine: over the sizes at ranks that all have, or over the ranks. Empty
// where there is one point alone.
Plot compared_plot(std::span<const Datasheet> sheets, const ComparedCall& first) {
  const Datasheet& a = sheets.front();
  const bool over_ranks = first.group == SheetGroup::no_data;
  const int most = a.ranks.back();
  const int p =
      first.group == SheetGroup::point_to_point ? first.ranks : analysis::common_ranks(sheets);
  const double unit = a.model.time_unit;
  Plot plot;
  plot.title =
      first.function + (first.group == SheetGroup::collective ? fmt::format(", p = {}", p) : "");
  plot.x_label = over_ranks ? "ranks" : "bytes";
  plot.y_label = "time in " + unit_name(a.model);
  plot.function = first.function;
  const Bytes least = std::max(a.bytes.front(), Bytes(1));
  if (over_ranks ? most <= 2 : a.bytes.back() <= least) return plot;
  for (std::size_t s = 0; s < sheets.size(); ++s) {
    const SheetFunction* found = sheets[s].find(first.function);
    if (!found) continue;
    const MachineModel& model = sheets[s].model;
    const analysis::SheetCurve curve =
        over_ranks ? analysis::curve_over_ranks(model, found->function, Bytes(0), 2, most)
                   : analysis::curve_over_bytes(model, found->function, p, least, a.bytes.back());
    PlotSeries series{machine_label(sheets, s), false, static_cast<int>(s), {}};
    for (const auto& piece : curve.pieces) {
      series.pieces.emplace_back();
      for (const analysis::CurvePoint& at : piece)
        series.pieces.back().push_back({at.x, at.avg / unit, at.min / unit, at.max / unit});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Where each function's rows begin.
std::vector<std::size_t> firsts_of(std::span<const ComparedCall> rows) {
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || rows[i].function != rows[i - 1].function) firsts.push_back(i);
  return firsts;
}

void add_compared_gallery(std::span<const Datasheet> sheets, std::span<const ComparedCall> rows,
                          SheetDocument& document) {
  SheetGallery gallery;
  for (std::size_t s = 0; s < sheets.size(); ++s)
    gallery.legend.push_back({machine_label(sheets, s), false, static_cast<int>(s), {}});
  for (const std::size_t first : firsts_of(rows)) {
    SheetCard card{compared_plot(sheets, rows[first]), "",
                   rows[first].group == SheetGroup::no_data ? "over the ranks" : ""};
    if (!card.plot.series.empty()) gallery.cards.push_back(std::move(card));
  }
  if (gallery.cards.empty()) return;
  gallery.heading = Heading{1, "Functions"};
  gallery.text = Paragraph{
      "Time in " + unit_name(sheets.front().model) +
      " over the message size in bytes, or over the number of ranks; one colour for each machine. "
      "Both axes are logarithmic."};
  document.blocks.push_back(std::move(gallery));
}

// Equations and times of every function on every machine.
void add_compared_functions(std::span<const Datasheet> sheets, std::span<const ComparedCall> rows,
                            int digits, SheetDocument& document) {
  document.blocks.push_back(Heading{1, "Times and ratios", true});
  document.blocks.push_back(Paragraph{
      "What one call takes, t(p, d) with d in bytes on every machine, and how many times as long "
      "as on machine A. An asterisk marks what lies outside what is known to have been measured."});
  for (const std::size_t first : firsts_of(rows)) {
    const std::string& name = rows[first].function;
    document.blocks.push_back(Heading{2, name});
    if (Plot plot = compared_plot(sheets, rows[first]); !plot.series.empty())
      document.blocks.push_back(std::move(plot));
    SheetTable equations;
    equations.header = {"", "message size", "t(p, d)", "unit", "d in"};
    equations.text_columns = 5;
    for (std::size_t s = 0; s < sheets.size(); ++s)
      if (const SheetFunction* found = sheets[s].find(name))
        for (const Regime& regime : found->function.regimes)
          equations.rows.push_back({letter_of(s), format_interval(regime),
                                    equation_cell(found->function, regime, digits),
                                    unit_name(sheets[s].model), data_unit(sheets[s].model)});
    document.blocks.push_back(std::move(equations));
    SheetTable table = compared_table(sheets.size());
    for (std::size_t i = first; i < rows.size() && rows[i].function == name; ++i)
      table.rows.push_back(compared_row(rows[i]));
    document.blocks.push_back(std::move(table));
  }
}

}  // namespace

SheetDocument comparison_document(std::span<const Datasheet> sheets, int digits,
                                  SheetExtent extent) {
  SheetDocument document;
  document.title = "MPI data sheets compared";
  for (std::size_t i = 0; i < sheets.size(); ++i)
    add_warnings(sheets[i], letter_of(i) + ": ", document);
  add_compared_machines(sheets, document);
  add_compared_figures(sheets, document);
  document.blocks.push_back(PlotOfAnything());
  const std::vector<ComparedCall> rows = analysis::compare_datasheets(sheets);
  if (rows.empty()) {
    document.blocks.push_back(Paragraph{"The models hold no function."});
  } else {
    document.blocks.push_back(Heading{1, "Ratios"});
    document.blocks.push_back(Paragraph{
        "How many times as long as on machine A a call takes: above 1, A is faster. An asterisk "
        "marks what is extrapolated on one of the two. \"-\": one of the two takes no time "
        "there."});
    for (std::size_t i = 1; i < sheets.size(); ++i) add_ratios(sheets, rows, i, document);
    if (extent == SheetExtent::full)
      add_compared_functions(sheets, rows, digits, document);
    else
      add_compared_gallery(sheets, rows, document);
  }
  add_notes(document, extent);
  return document;
}

}  // namespace foretrace::views
