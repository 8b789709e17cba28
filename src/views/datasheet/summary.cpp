#include "views/datasheet/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/datasheet_key.hpp"
#include "views/datasheet/measurement.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::KeyCall;
using analysis::KeyFigures;
using analysis::KeyMessage;

constexpr double kFewBlocks = 0.9;

std::string message_of(const KeyMessage& message) {
  return fmt::format("{}, {}",
                     message.function == "pingpong" ? "half of pingpong" : message.function,
                     format_bytes(message.time.bytes));
}

std::string rate_of(const KeyMessage& message) {
  if (!(message.time.avg > 0)) return kUnknown;
  return format_rate(static_cast<double>(message.time.bytes.count) / message.time.avg) +
         (message.time.beyond ? " *" : "");
}

std::string name_of(const KeyCall& call) {
  return call.has_data ? fmt::format("{}, {}", call.function, format_bytes(call.bytes))
                       : call.function;
}

std::string threshold_of(const Datasheet& sheet) {
  const auto& threshold = sheet.model.loggps.sync_threshold;
  return threshold ? fmt::format("{} B", threshold->count) : std::string(kUnknown);
}

// Blocks of samples in which no rank was switched out; nothing without samples.
std::optional<double> share_kept(const Datasheet& sheet) {
  std::size_t blocks = 0;
  std::size_t kept = 0;
  for (const analysis::SheetFunction& each : sheet.functions) {
    blocks += each.blocks;
    kept += each.kept;
  }
  if (blocks == 0) return std::nullopt;
  return static_cast<double>(kept) / static_cast<double>(blocks);
}

// The calls of any of the machines.
std::vector<std::string> calls_of(std::span<const KeyFigures> keys) {
  std::vector<std::string> names;
  for (const KeyFigures& key : keys)
    for (const KeyCall& call : key.calls)
      if (std::ranges::find(names, name_of(call)) == names.end()) names.push_back(name_of(call));
  return names;
}

std::string call_cell(const KeyFigures& key, const std::string& name, int ranks) {
  for (const KeyCall& call : key.calls)
    for (const analysis::SheetTime& time : call.times)
      if (name_of(call) == name && time.ranks == ranks) return time_cell(time);
  return kUnknown;
}

void add_calls(const Datasheet& sheet, const KeyFigures& key, SheetDocument& document) {
  if (key.calls.empty()) return;
  SheetTable table;
  table.boxed = true;
  table.header = {"time"};
  for (const int p : sheet.ranks) table.header.push_back(fmt::format("p = {}", p));
  for (const KeyCall& call : key.calls) {
    table.rows.push_back({name_of(call)});
    for (const analysis::SheetTime& time : call.times) table.rows.back().push_back(time_cell(time));
  }
  document.blocks.push_back(std::move(table));
}

}  // namespace

std::string letter_of(std::size_t machine) {
  return {static_cast<char>('A' + static_cast<char>(machine % 26))};
}

void add_warnings(const Datasheet& sheet, const std::string& who, SheetDocument& document) {
  const auto warn = [&](const std::string& text) {
    document.blocks.push_back(SheetWarning{who + text});
  };
  if (!sheet.invalid_reasons.empty()) {
    std::string reasons;
    for (const std::string& each : sheet.invalid_reasons)
      reasons += (reasons.empty() ? "" : "; ") + each;
    warn("The measurement is not to be trusted: " + reasons + ".");
  }
  if (sheet.fact("oversubscribed") == "yes")
    warn(
        "There were more ranks than cores: the figures are of ranks that wait for each other's "
        "processors, and do not characterise the machine or its MPI library.");
  if (const std::string names = sheet.fact("invalid"); !names.empty())
    warn("Invalid, because too little of what was measured survived: " + names +
         ". Their figures stand here only so that nothing is hidden; measure again on a quieter "
         "machine.");
  std::string unreliable;
  const auto add = [&unreliable](const std::string& prefix, const machine::Functions& functions) {
    for (const auto& [name, function] : functions)
      if (function.valid && machine::is_unreliable(function))
        unreliable +=
            (unreliable.empty() ? "" : ", ") +
            fmt::format("{}{} ({})", prefix, name, format_percent(function.held_out.value().mean));
  };
  add("", sheet.model.functions);
  for (const auto& [path, own] : sheet.model.paths)
    add(std::string(name_of(path)) + "/", own.functions);
  if (!unreliable.empty())
    warn(
        "Not to be used: at sizes that were left out of the fit the equations are off by more "
        "than half: " +
        unreliable + ".");
  if (const auto kept = share_kept(sheet); kept && *kept < kFewBlocks)
    warn(
        fmt::format("In only {} of the measured blocks no rank was switched out. Measure again on "
                    "a quieter machine.",
                    format_percent(*kept)));
}

void add_key_figures(const Datasheet& sheet, SheetDocument& document) {
  const KeyFigures key = analysis::key_figures(sheet);
  SheetTable table;
  table.boxed = true;
  table.header = {"", "", ""};
  table.text_columns = 3;
  const auto row = [&](std::string what, std::string value, std::string how) {
    table.rows.push_back({std::move(what), std::move(value), std::move(how)});
  };
  if (key.small) row("latency", time_cell(key.small->time), message_of(*key.small));
  if (key.large) row("bandwidth", rate_of(*key.large), message_of(*key.large));
  if (const std::string from = threshold_of(sheet); from != kUnknown)
    row("a send waits for its receive", "from " + from + " on", "the rendezvous threshold S");
  if (const std::string to = sheet.fact("local_threshold"); !to.empty())
    row("a send is complete without one", "up to " + to + " B", "the receiver outside MPI");
  if (sheet.model.compute_step > 0)
    row("compute step", format_seconds(sheet.model.compute_step),
        "one annotated step of a program");
  if (key.error)
    row("error of the equations", format_percent(key.error->middle),
        fmt::format("at sizes not fitted, typical; most {} ({})", format_percent(key.error->worst),
                    key.error->worst_function));
  if (const auto kept = share_kept(sheet))
    row("undisturbed", format_percent(*kept), "of the measured blocks; only they are used");
  if (table.rows.empty() && key.calls.empty()) return;
  document.blocks.push_back(Heading{1, "In short"});
  if (!table.rows.empty()) document.blocks.push_back(std::move(table));
  add_calls(sheet, key, document);
}

void add_compared_figures(std::span<const Datasheet> sheets, SheetDocument& document) {
  std::vector<KeyFigures> keys;
  for (const Datasheet& sheet : sheets) keys.push_back(analysis::key_figures(sheet));
  const int common = analysis::common_ranks(sheets);
  SheetTable table;
  table.boxed = true;
  table.header = {""};
  for (std::size_t i = 0; i < sheets.size(); ++i) table.header.push_back(letter_of(i));
  const auto row = [&](const std::string& what, const auto& cell) {
    std::vector<std::string> cells{what};
    for (std::size_t i = 0; i < sheets.size(); ++i) cells.push_back(cell(i));
    if (std::ranges::any_of(cells.begin() + 1, cells.end(),
                            [](const std::string& each) { return each != kUnknown; }))
      table.rows.push_back(std::move(cells));
  };
  row("latency", [&](std::size_t i) {
    return keys[i].small ? time_cell(keys[i].small->time) : std::string(kUnknown);
  });
  row("bandwidth", [&](std::size_t i) {
    return keys[i].large ? rate_of(*keys[i].large) : std::string(kUnknown);
  });
  row("a send waits from", [&](std::size_t i) { return threshold_of(sheets[i]); });
  for (const std::string& name : calls_of(keys))
    row(fmt::format("{}, p = {}", name, common),
        [&](std::size_t i) { return call_cell(keys[i], name, common); });
  row("compute step", [&](std::size_t i) {
    const double step = sheets[i].model.compute_step;
    return step > 0 ? format_seconds(step) : std::string(kUnknown);
  });
  row("error of the equations", [&](std::size_t i) {
    return keys[i].error ? format_percent(keys[i].error->middle) : std::string(kUnknown);
  });
  if (table.rows.empty()) return;
  document.blocks.push_back(Heading{1, "In short"});
  document.blocks.push_back(std::move(table));
}

}  // namespace foretrace::views
