#include "views/report/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using analysis::RunSpread;
using analysis::TimePart;
using analysis::ValidatedGroup;
using analysis::Validation;
using json = nlohmann::ordered_json;

constexpr std::size_t kMostGroups = 10;
// To log a call takes less. What is more is scatter, or the beginning and the end of a run that
// makes few calls.
constexpr Time kMostToLog = Time::ns(5000);
constexpr TimePart kParts[] = {TimePart::computation, TimePart::transfer, TimePart::waiting};

const RunSpread& side_of(const Validation& validation, TimePart part, int side) {
  return validation.parts[static_cast<int>(part)][side];
}

std::string percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string change(Time measured, Time predicted) {
  if (measured == Time()) return predicted == Time() ? "-" : "new";
  return percent((predicted - measured).seconds() / measured.seconds());
}

std::string between(const RunSpread& spread) {
  return format_time(spread.low) + " to " + format_time(spread.high);
}

std::string sizes_of(const ValidatedGroup& group) {
  if (group.least > group.most) return "-";
  if (group.least == group.most) return format_bytes(group.least);
  return format_bytes(group.least) + " to " + format_bytes(group.most);
}

std::string parts_table(const Validation& validation) {
  TextTable table({L, R, R, R, R});
  table.add({"over all ranks", "measured", "predicted", "difference", ""});
  for (const TimePart part : kParts) {
    const Time a = side_of(validation, part, 0).median;
    const Time b = side_of(validation, part, 1).median;
    table.add({analysis::name_of(part), format_time(a), format_time(b), difference_text(b - a),
               change(a, b)});
  }
  return table.render(2);
}

std::string groups_table(const Validation& validation) {
  TextTable table({L, L, R, R, R, R, R, R, L});
  table.add({"part", "function", "size", "calls", "measured", "predicted", "difference", "scatter",
             "where"});
  std::size_t told = 0;
  for (const ValidatedGroup& group : validation.groups) {
    if (told == kMostGroups) break;
    if (group.distance() == Time()) continue;
    ++told;
    std::string where = group.place;
    if (!group.phase.empty()) where += (where.empty() ? "phase " : ", phase ") + group.phase;
    const bool computes = group.part == TimePart::computation;
    const std::string function = group.function.empty() ? "a mark" : group.function;
    table.add({analysis::name_of(group.part), (computes ? "before " : "") + function,
               sizes_of(group), std::to_string(group.calls), format_time(group.measured.median),
               format_time(group.predicted.median), difference_text(group.difference()),
               format_time(group.scatter()), where});
  }
  return told == 0 ? "" : table.render(2);
}

json spread_json(const RunSpread& spread) {
  return {{"low", to_seconds(spread.low)},
          {"median", to_seconds(spread.median)},
          {"high", to_seconds(spread.high)}};
}

json group_json(const ValidatedGroup& group) {
  json object = {{"part", analysis::name_of(group.part)},
                 {"function", group.function},
                 {"place", group.place},
                 {"phase", group.phase},
                 {"calls", group.calls},
                 {"measured", spread_json(group.measured)},
                 {"predicted", spread_json(group.predicted)}};
  if (group.least <= group.most)
    object["bytes"] = json::array({group.least.count, group.most.count});
  return object;
}

double error_of(const RunSpread& predicted, const RunSpread& measured) {
  return (predicted.median - measured.median).seconds() / measured.median.seconds();
}

std::string other_state_table(const OtherState& state) {
  TextTable table({L, R, R, L});
  table.add({fmt::format("{} {} in the {}", state.runs, state.runs == 1 ? "run" : "runs",
                         state.is_measured ? "state that was measured" : "other state"),
             format_time(state.measured.median), "", between(state.measured)});
  for (const auto& [name, predicted] : state.ways)
    table.add({name + (state.is_measured ? "" : " --other-state"), format_time(predicted.median),
               percent(error_of(predicted, state.measured)), between(predicted)});
  return table.render(0);
}

json other_state_json(const OtherState& state) {
  json ways = json::array();
  for (const auto& [name, predicted] : state.ways)
    ways.push_back({{"way", name},
                    {"predicted", spread_json(predicted)},
                    {"error", error_of(predicted, state.measured)}});
  return {{"is_measured", state.is_measured},
          {"runs", state.runs},
          {"measured", spread_json(state.measured)},
          {"ways", ways}};
}

const char* kind_name(analysis::CauseKind kind) {
  constexpr const char* kNames[] = {"threshold",  "per byte",    "fixed",       "missing", "beyond",
                                    "unreliable", "first calls", "computation", "waiting"};
  return kNames[static_cast<int>(kind)];
}

json way_json(const ValidatedWay& way) {
  json parts = json::object();
  for (const TimePart part : kParts)
    parts[analysis::name_of(part)] = {{"measured", spread_json(side_of(way.validation, part, 0))},
                                      {"predicted", spread_json(side_of(way.validation, part, 1))}};
  json causes = json::array();
  for (const analysis::Cause& cause : way.causes)
    causes.push_back({{"kind", kind_name(cause.kind)},
                      {"text", cause.text},
                      {"advice", cause.advice},
                      {"group", cause.group}});
  json groups = json::array();
  for (const ValidatedGroup& group : way.validation.groups) groups.push_back(group_json(group));
  return {{"way", way.name},
          {"predicted", spread_json(way.validation.predicted)},
          {"error", way.validation.error()},
          {"same_calls", !way.validation.difference},
          {"parts", parts},
          {"causes", causes},
          {"groups", groups},
          {"notes", way.notes}};
}

}  // namespace

bool ValidationReport::is_within() const {
  return within <= 0 || std::ranges::all_of(ways, [this](const ValidatedWay& way) {
           return std::abs(way.validation.error()) <= within;
         });
}

std::string render_text_validation(const ValidationReport& report) {
  const Validation& first = report.ways.front().validation;
  std::string text = fmt::format("{} on {} {}, ", report.program, report.ranks,
                                 report.ranks == 1 ? "rank" : "ranks");
  text += report.runs == 1
              ? fmt::format("1 run: {}\n", format_time(first.measured.median))
              : fmt::format("{} runs: {} (quartiles {})\n", report.runs,
                            format_time(first.measured.median), between(first.measured));
  if (first.traced_call > Time())
    text += fmt::format(
        "note: with their calls logged the runs take {}, {:.3g} times as long{}; that is taken off "
        "below\n",
        format_time(first.traced.median),
        first.traced.median.seconds() / std::max(first.measured.median.seconds(), 1e-12),
        first.traced_call > kMostToLog ? "" : ", " + format_time(first.traced_call) + " a call");
  for (const std::string& state : report.state) text += "note: " + state + "\n";
  TextTable table({L, R, R, L});
  table.add({"predicted for " + report.machine, "time", "error", "quartiles"});
  for (const ValidatedWay& way : report.ways)
    table.add({way.name, format_time(way.validation.predicted.median),
               percent(way.validation.error()), between(way.validation.predicted)});
  text += "\n" + table.render(0);
  if (report.other_state) text += "\n" + other_state_table(*report.other_state);
  for (const ValidatedWay& way : report.ways) {
    text += "\n" + way.name + "\n" + parts_table(way.validation);
    for (const std::string& note : way.notes) text += "  note: " + note + "\n";
    if (way.validation.difference)
      text += "  note: the prediction made other calls; totals are those of different calls\n";
    std::size_t number = 0;
    for (const analysis::Cause& cause : way.causes)
      text += fmt::format("  {}. {}.\n     {}.\n", ++number, escape_text(cause.text), cause.advice);
    if (way.causes.empty())
      text += fmt::format(
          "  no difference of {} of the time or more is beyond the scatter of the real runs\n",
          format_percent(analysis::kLeastShare));
    text += groups_table(way.validation);
  }
  if (report.within > 0)
    text +=
        fmt::format("\n{} within {}\n", report.is_within() ? "all ways are" : "not all ways are",
                    format_percent(report.within));
  return text;
}

std::string render_json_validation(const ValidationReport& report) {
  json ways = json::array();
  for (const ValidatedWay& way : report.ways) ways.push_back(way_json(way));
  const Validation& first = report.ways.front().validation;
  json object = {{"program", report.program},
                 {"machine", report.machine},
                 {"ranks", report.ranks},
                 {"runs", report.runs},
                 {"measured", spread_json(first.measured)},
                 {"traced", spread_json(first.traced)},
                 {"traced_call", first.traced_call.seconds()},
                 {"switched_out", spread_json(first.switched_out)},
                 {"state", report.state},
                 {"ways", ways}};
  if (report.other_state) object["other_state"] = other_state_json(*report.other_state);
  if (report.within > 0) {
    object["within"] = report.within;
    object["is_within"] = report.is_within();
  }
  return json_text(object);
}

}  // namespace foretrace::views
