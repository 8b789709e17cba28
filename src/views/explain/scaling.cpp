#include "views/explain/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "views/draw/html_table.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using explain::ScaledRun;
using nlohmann::ordered_json;

struct Row {
  const char* name;
  double (*value)(const ScaledRun&);
};

constexpr const char* kFiles = "      files";  // shown where a run has some

// As POP's tables: each product above its factors.
constexpr Row kRows[] = {
    {"global efficiency", [](const ScaledRun& run) { return run.global; }},
    {"  parallel efficiency", [](const ScaledRun& run) { return run.efficiency.parallel; }},
    {"    load balance", [](const ScaledRun& run) { return run.efficiency.load_balance; }},
    {"    communication", [](const ScaledRun& run) { return run.efficiency.communication; }},
    {"      serialisation", [](const ScaledRun& run) { return run.efficiency.serialisation; }},
    {kFiles, [](const ScaledRun& run) { return run.efficiency.files; }},
    {"      transfer", [](const ScaledRun& run) { return run.efficiency.transfer; }},
    {"  computation scalability", [](const ScaledRun& run) { return run.computation; }},
};

std::string title(const ScalingTable& table) {
  return fmt::format("{} scaling of {} runs{}, compared with {}",
                     table.scaling == explain::Scaling::strong ? "Strong" : "Weak",
                     table.runs.size(), table.where, table.runs.front().name);
}

// Name, then one cell for each run.
std::vector<std::vector<std::string>> cells(const ScalingTable& table) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const auto& value) {
    rows.push_back({name});
    for (const ScaledRun& run : table.runs) rows.back().push_back(value(run));
  };
  add("ranks", [](const ScaledRun& run) { return std::to_string(run.ranks); });
  add("run time", [](const ScaledRun& run) { return format_time(run.time); });
  add("speed-up", [](const ScaledRun& run) { return format_ratio(run.speedup); });
  const bool files = std::ranges::any_of(
      table.runs, [](const ScaledRun& run) { return run.efficiency.files != 1; });
  for (const Row& row : kRows)
    if (files || std::string_view(row.name) != kFiles)
      add(row.name, [&row](const ScaledRun& run) { return format_percent(row.value(run)); });
  return rows;
}

}  // namespace

std::string render_text_scaling(const ScalingTable& table) {
  std::vector<Align> columns(table.runs.size() + 1, Align::right);
  columns.front() = Align::left;
  TextTable text(columns);
  std::vector<std::string> names{""};
  for (const ScaledRun& run : table.runs) names.push_back(run.name);
  text.add(names);
  for (std::vector<std::string>& row : cells(table)) text.add(std::move(row));
  std::string out = title(table) + "\n";
  for (const std::string& note : table.notes) out += "note: " + note + "\n";
  return out + text.render(0);
}

std::string render_json_scaling(const ScalingTable& table) {
  ordered_json runs = ordered_json::array();
  for (const ScaledRun& run : table.runs)
    runs.push_back({{"run", run.name},
                    {"ranks", run.ranks},
                    {"time", to_seconds(run.time)},
                    {"compute", run.compute},
                    {"speedup", run.speedup},
                    {"global", run.global},
                    {"parallel", run.efficiency.parallel},
                    {"load_balance", run.efficiency.load_balance},
                    {"communication", run.efficiency.communication},
                    {"serialisation", run.efficiency.serialisation},
                    {"files", run.efficiency.files},
                    {"transfer", run.efficiency.transfer},
                    {"computation", run.computation}});
  return json_text({{"scaling", table.scaling == explain::Scaling::strong ? "strong" : "weak"},
                    {"reference", table.runs.front().name},
                    {"notes", table.notes},
                    {"runs", runs}});
}

std::string render_html_scaling(const ScalingTable& table) {
  std::vector<std::string> names{""};
  for (const ScaledRun& run : table.runs) names.push_back(run.name);
  HtmlTable html(names, 1);
  for (std::vector<std::string>& row : cells(table)) {
    // Factors stand further in than their product.
    const std::size_t depth = row.front().find_first_not_of(' ');
    std::string name;
    for (std::size_t i = 0; i < depth; i += 2) name += "\u00b7 ";
    row.front() = name + row.front().substr(depth);
    html.add(row);
  }
  std::string out =
      begin_page("Efficiency of several runs", "") + "<p>" + escape_html(title(table)) + "</p>\n";
  for (const std::string& note : table.notes) out += "<p>" + escape_html(note) + "</p>\n";
  return out + html.finish() + end_page();
}

}  // namespace foretrace::views
