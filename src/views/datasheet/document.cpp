#include <fmt/format.h>

#include <algorithm>

#include "views/datasheet/datasheet.hpp"
#include "views/datasheet/functions.hpp"
#include "views/datasheet/measurement.hpp"
#include "views/datasheet/notes.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/datasheet/summary.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetFunction;
using analysis::SheetGroup;
using analysis::SheetTime;
using machine::MachineModel;
using machine::Regime;

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
  if (model.kind == "derived") row("kind", "derived, not measured by Foretrace");
  if (!model.licence.empty()) row("licence of the figures", model.licence);
  row("most ranks", model.ranks > 0 ? fmt::format("{}", model.ranks) : "");
  row("timer resolution", model.timer_resolution > 0 ? format_seconds(model.timer_resolution) : "");
  row("time in the equations", unit_name(model));
  row("d in the equations", data_unit(model));
  row("compute step", model.compute_step > 0 ? format_seconds(model.compute_step) : "");
  document.blocks.push_back(Heading{1, "Run parameters"});
  document.blocks.push_back(std::move(table));
}

// Functions of one group at one number of ranks; those without data at all ranks.
SheetTable times_table(const Datasheet& sheet, const std::vector<SheetFunction>& functions,
                       SheetGroup group, int ranks) {
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
  for (const SheetFunction& each : functions) {
    if (each.group != group) continue;
    std::vector<std::string> row{each.function.name +
                                 (is_invalid(sheet, each.function.name) ? " (invalid)" : "")};
    for (const SheetTime& time : each.times)
      if (group != SheetGroup::collective || time.ranks == ranks) row.push_back(time_cell(time));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What data that nobody has written since it was sent last makes of the times of functions that
// know of it.
SheetTable untouched_table(const Datasheet& sheet, const std::vector<SheetFunction>& functions) {
  SheetTable table;
  table.caption =
      "Untouched data: so many times as long, if nobody has written it since it was sent last";
  table.header = {"function"};
  for (const Bytes bytes : sheet.bytes) table.header.push_back(format_bytes(bytes));
  for (const SheetFunction& each : functions) {
    if (each.function.untouched.empty()) continue;
    std::vector<std::string> row{each.function.name};
    for (const Bytes bytes : sheet.bytes)
      row.push_back(bytes < each.function.untouched.front().bytes
                        ? kUnknown
                        : fmt::format("{:.2f}", machine::untouched_factor(each.function, bytes)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

SheetTable table_by_size(const Datasheet& sheet, const char* caption, const char* what) {
  SheetTable table;
  table.caption = caption;
  table.header = {what};
  for (const Bytes bytes : sheet.bytes) table.header.push_back(format_bytes(bytes));
  return table;
}

// Of sizes from `least` on.
template <class TimeOf>
void add_times(const Datasheet& sheet, std::string name, Bytes least, TimeOf time_of,
               SheetTable& table) {
  std::vector<std::string> row{std::move(name)};
  for (const Bytes bytes : sheet.bytes)
    row.push_back(bytes < least ? kUnknown : format_seconds(time_of(bytes).seconds()));
  table.rows.push_back(std::move(row));
}

SheetTable rewrite_table(const Datasheet& sheet, const machine::Rewrite& rewrite) {
  SheetTable table = table_by_size(
      sheet,
      "Writing again what other ranks of the node have read takes so much longer, after the call",
      "call");
  for (const auto& [call, known] : rewrite)
    add_times(
        sheet, call, known.front().bytes,
        [&times = known](Bytes bytes) { return machine::time_at(times, bytes); }, table);
  return table;
}

SheetTable pieces_table(const Datasheet& sheet, const machine::Pieces& pieces) {
  SheetTable table = table_by_size(
      sheet,
      "Data that does not lie together in memory takes so much longer, by the bytes of a piece",
      "pieces");
  const auto add = [&](const char* what, const machine::PieceTimes& known) {
    for (const auto& [piece, times] : known)
      add_times(
          sheet, fmt::format("{}, {} B", what, piece.count), times.front().bytes,
          [&known, length = piece](Bytes bytes) {
            return machine::pieces_time(known, bytes, length);
          },
          table);
  };
  add("sent", pieces.send);
  add("received", pieces.recv);
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
  const auto add_all = [&](const std::vector<SheetFunction>& functions) {
    add(times_table(sheet, functions, SheetGroup::point_to_point, 2));
    for (const int ranks : sheet.ranks)
      add(times_table(sheet, functions, SheetGroup::collective, ranks));
    add(times_table(sheet, functions, SheetGroup::no_data, 0));
    add(untouched_table(sheet, functions));
  };
  add_all(sheet.functions);
  add(rewrite_table(sheet, sheet.model.rewrite));
  add(pieces_table(sheet, sheet.model.pieces));
  for (const analysis::PathSheet& path : sheet.paths) {
    document.blocks.push_back(Paragraph{fmt::format(
        "The path '{0}': what the same calls take {1}. Functions that are not here take "
        "as long as above.",
        name_of(path.path), meaning_of(path.path))});
    add_all(path.functions);
    if (const auto own = sheet.model.paths.find(path.path); own != sheet.model.paths.end()) {
      add(rewrite_table(sheet, own->second.rewrite));
      add(pieces_table(sheet, own->second.pieces));
    }
  }
  document.blocks.push_back(PlotOfAnything());
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
      table.rows.push_back({each.function.name, equation_cell(each.function, *regime, digits),
                            format_interval(*regime), q_cell(*regime)});
  return table;
}

void add_equations(const Datasheet& sheet, int digits, SheetDocument& document) {
  document.blocks.push_back(Heading{1, "Equations"});
  document.blocks.push_back(Paragraph{fmt::format(
      "p is the number of ranks, d the message size in {}, ln the natural logarithm, log2 that to "
      "base 2; ceil rounds up to a whole number. {}",
      data_unit(sheet.model),
      digits > 0
          ? fmt::format("Coefficients have {} significant digit{}.", digits, digits == 1 ? "" : "s")
          : "Coefficients have the digits that their standard errors justify, six at most.")});
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

SheetDocument datasheet_document(const Datasheet& sheet, int digits, SheetExtent extent) {
  SheetDocument document;
  document.title = "MPI data sheet: " + title_of(sheet.model);
  add_warnings(sheet, "", document);
  add_key_figures(sheet, document);
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
  add_reductions(sheet, document);
  add_measurement(sheet, document);
  if (extent == SheetExtent::full)
    add_functions(sheet, digits, document);
  else
    add_gallery(sheet, document);
  add_notes(document, extent);
  for (SheetBlock& block : document.blocks)
    if (auto* table = std::get_if<SheetTable>(&block)) leave_out_unknown(*table);
  return document;
}

}  // namespace foretrace::views
