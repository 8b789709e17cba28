// Several runs against several: text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"
#include "views/report/comparison.hpp"

namespace foretrace::views {
namespace {

using analysis::CompareLevel;
using analysis::GroupComparison;
using analysis::GroupLine;
using analysis::GroupSide;
using analysis::RunGroup;
using json = nlohmann::ordered_json;
using Interval = std::optional<stats::Interval>;

constexpr double kPicosecond = 1e-12;

const char* const kLegend =
    "+-: standard deviation of the runs; from, to: the mean's difference or ratio lies between\n"
    "with 95 % (Welch, Fieller)\n";

void add_cells(std::vector<std::string>& cells, const GroupLine& line) {
  const auto side = [&](const GroupSide& of) {
    cells.push_back(of.runs.empty() ? "-" : format_picoseconds(of.mean));
    cells.push_back(of.runs.size() < 2 ? "" : format_picoseconds(of.deviation));
  };
  const auto ends = [&](const Interval& interval, auto format) {
    cells.push_back(interval ? format(interval->lower) : "");
    cells.push_back(interval ? format(interval->upper) : "");
  };
  side(line.a);
  side(line.b);
  cells.push_back(line.known() ? difference_text(line.difference()) : "-");
  ends(line.intervals.difference, [](double ps) { return difference_text(ps); });
  cells.push_back(line.known() ? format_ratio(line.ratio()) : "-");
  ends(line.intervals.ratio, format_ratio);
}

// `first`: the heads of the columns before the times, which `names` fills.
std::string table_of(const std::vector<GroupLine>& lines, std::vector<Align> align,
                     std::vector<std::string> head,
                     const std::function<std::vector<std::string>(const GroupLine&)>& names) {
  for (const char* word : {"t1", "+-", "t2", "+-", "t2-t1", "from", "to", "t2/t1", "from", "to"}) {
    align.push_back(R);
    head.emplace_back(word);
  }
  TextTable table(align);
  table.add(head);
  for (const GroupLine& line : lines) {
    std::vector<std::string> cells = names(line);
    add_cells(cells, line);
    table.add(std::move(cells));
  }
  return table.render(0);
}

std::vector<std::string> name_of(const GroupLine& line) {
  return {line.name};
}

std::string level_table(const GroupComparison& both, CompareLevel level) {
  const std::vector<GroupLine> lines = by_difference(both.at(level));
  if (level == CompareLevel::ranks)
    return table_of(lines, {R, L}, {"rank", "state"}, [](const GroupLine& line) {
      return std::vector<std::string>{std::to_string(line.rank.value), line.name};
    });
  if (level != CompareLevel::phases) return table_of(lines, {L}, {"state"}, name_of);
  if (lines.empty()) return "no run has phases\n";
  return table_of(lines, {L}, {"phase"}, name_of) +
         "a phase's time is the maximum over all ranks\n";
}

json runs_of(const RunGroup& group) {
  json list = json::array();
  for (const analysis::GroupRun& run : group) {
    const trace::TraceInfo& info = run.times.info;
    list.push_back({{"file", run.path},
                    {"program", info.program},
                    {"origin", info.origin},
                    {"clock", clock_name(info.clock)},
                    {"machine", info.machine},
                    {"ranks", info.ranks},
                    {"complete", run.times.complete},
                    {"notes", info.notes}});
  }
  return list;
}

json times_of(const GroupSide& side) {
  json list = json::array();
  for (const Time time : side.runs) list.push_back(to_seconds(time));
  return list;
}

// Seconds, or ratios.
json ends(const Interval& interval, double unit) {
  if (!interval) return nullptr;
  const double upper = interval->upper;
  return {interval->lower * unit, std::isinf(upper) ? json(nullptr) : json(upper * unit)};
}

json with_times(json object, const GroupLine& line) {
  const auto seconds = [](bool known, double ps) {
    return known ? json(ps * kPicosecond) : json(nullptr);
  };
  const double ratio = line.ratio();
  object.update(json{{"t1", seconds(!line.a.runs.empty(), line.a.mean)},
                     {"t2", seconds(!line.b.runs.empty(), line.b.mean)},
                     {"t1_runs", times_of(line.a)},
                     {"t2_runs", times_of(line.b)},
                     {"difference", seconds(line.known(), line.difference())},
                     {"difference_interval", ends(line.intervals.difference, kPicosecond)},
                     {"ratio", line.known() && !std::isinf(ratio) ? json(ratio) : json(nullptr)},
                     {"ratio_interval", ends(line.intervals.ratio, 1)}});
  return object;
}

}  // namespace

std::vector<GroupLine> by_difference(const std::vector<GroupLine>& lines) {
  std::vector<GroupLine> rows = lines;
  std::erase_if(rows, [](const GroupLine& line) { return !line.shows(); });
  std::ranges::stable_sort(rows, std::greater<>(), [](const GroupLine& line) {
    return line.known() ? std::fabs(line.difference()) : -1;
  });
  return rows;
}

std::string difference_text(double ps) {
  return (ps > 0 ? "+" : ps < 0 ? "-" : "") + format_picoseconds(std::fabs(ps));
}

std::string chance_note(const std::vector<GroupLine>& lines) {
  const auto judged = [](const GroupLine& line) { return line.intervals.difference.has_value(); };
  const auto differ = [](const GroupLine& line) { return line.intervals.differ(); };
  const auto all = std::ranges::count_if(lines, judged);
  if (all == 0) return "";
  return fmt::format("{} of {} differences leave zero out; by chance one in twenty does",
                     std::ranges::count_if(lines, differ), all);
}

std::string describe_group(const RunGroup& runs) {
  const std::string what = describe_trace(runs.front().times.info);
  return runs.size() == 1 ? what : fmt::format("{} runs: {}", runs.size(), what);
}

std::vector<std::string> group_notes(const GroupComparison& both) {
  std::vector<std::string> notes;
  const auto about = [&](const char* which, const RunGroup& runs) {
    for (const analysis::GroupRun& run : runs)
      for (const std::string& note : trace_note_list(run.times.info, run.times.complete, {}))
        notes.push_back(fmt::format("{}: {}: {}", which, run.path, note));
    const auto other = std::ranges::find_if(runs, [&](const analysis::GroupRun& run) {
      return describe_trace(run.times.info) != describe_trace(runs.front().times.info) ||
             run.times.info.program != runs.front().times.info.program;
    });
    if (other != runs.end())
      notes.push_back(fmt::format("{}: {} is not the same as {}: {}, {}", which, other->path,
                                  runs.front().path, other->times.info.program,
                                  describe_trace(other->times.info)));
    if (runs.size() == 1 && runs.front().times.info.clock != trace::Clock::virtual_)
      notes.push_back(fmt::format(
          "{} is one measurement, which tells nothing of its scatter: no intervals", which));
  };
  about("A", both.a);
  about("B", both.b);
  const auto ranks = [](const RunGroup& runs) { return runs.front().times.info.ranks; };
  if (ranks(both.a) != ranks(both.b))
    notes.push_back(fmt::format("A has {} ranks, B has {}", ranks(both.a), ranks(both.b)));
  return notes;
}

std::string render_text_groups(const GroupComparison& both, CompareLevel level) {
  std::string text;
  for (const std::string& note : group_notes(both)) text += "note: " + escape_text(note) + "\n";
  TextTable head({L, L});
  head.add({"A (t1)", describe_group(both.a)});
  head.add({"B (t2)", describe_group(both.b)});
  text += head.render(0) + "\n";
  text += table_of({both.time, both.serial_time, both.wait}, {L}, {"program"}, name_of) + "\n";
  text += level_table(both, level) + "\n" + kLegend;
  const std::string chance = chance_note(both.at(level));
  return chance.empty() ? text : text + chance + "\n";
}

std::string render_json_groups(const GroupComparison& both, CompareLevel level) {
  json result = {{"a", runs_of(both.a)},
                 {"b", runs_of(both.b)},
                 {"coverage", 0.95},
                 {"time", with_times(json::object(), both.time)},
                 {"serial_time", with_times(json::object(), both.serial_time)},
                 {"wait", with_times(json::object(), both.wait)}};
  const bool phases = level == CompareLevel::phases;
  json rows = json::array();
  for (const GroupLine& line : both.at(level)) {
    if (!line.shows()) continue;
    json object = {{phases ? "phase" : "state", line.name}};
    if (level == CompareLevel::ranks) object["rank"] = line.rank.value;
    rows.push_back(with_times(std::move(object), line));
  }
  result[phases ? "phases" : level == CompareLevel::ranks ? "ranks" : "states"] = std::move(rows);
  return json_text(result);
}

}  // namespace foretrace::views
