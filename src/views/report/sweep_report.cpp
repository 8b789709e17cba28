#include "views/report/sweep_report.hpp"

#include <fmt/format.h>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/ids.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

double quotient(Time a, Time b) {
  return b == Time() ? 0 : to_seconds(a) / to_seconds(b);
}

// None where nothing computes.
std::optional<double> speedup(const SweepRun& run) {
  if (run.serial_time == Time()) return std::nullopt;
  return quotient(run.serial_time, run.time);
}

std::optional<double> efficiency(const SweepRun& run) {
  const std::optional<double> ratio = speedup(run);
  return ratio ? std::optional(*ratio / run.ranks) : std::nullopt;
}

std::string speedup_text(const SweepRun& run) {
  const std::optional<double> ratio = speedup(run);
  return ratio ? format_ratio(*ratio) : "-";
}

std::string efficiency_text(const SweepRun& run) {
  const std::optional<double> ratio = efficiency(run);
  return ratio ? format_percent(*ratio) : "-";
}

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// Where the base takes no time nothing can be said of the others.
double ratio(const SweepRun& run, const SweepReport& report) {
  return run.time == report.base.time ? 1 : quotient(run.time, report.base.time);
}

std::string value_text(const SweepAxis& axis, double value) {
  if (!axis.is_size) return fmt::format("x{:.6g}", value);
  if (std::isinf(value)) return "none";
  return std::to_string(static_cast<std::uint64_t>(value));
}

}  // namespace

std::string render_text_sweep(const SweepReport& report) {
  std::vector<Align> columns(report.axes.size() + 5, Align::right);
  TextTable table(columns);
  std::vector<std::string> head;
  for (const SweepAxis& axis : report.axes) head.push_back(axis.name);
  head.insert(head.end(), {"time", "of base", "speed-up", "efficiency", "wait time"});
  table.add(head);
  for (const SweepRun& run : report.runs) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < report.axes.size(); ++i)
      row.push_back(value_text(report.axes[i], run.values[i]));
    row.insert(row.end(), {format_time(run.time), format_ratio(ratio(run, report)),
                           speedup_text(run), efficiency_text(run), format_time(run.wait)});
    table.add(row);
  }
  const SweepRun& base = report.base;
  std::string text = "the machine as it is: " + format_time(base.time);
  if (speedup(base))
    text += fmt::format(", speed-up {}, efficiency {}", speedup_text(base), efficiency_text(base));
  return text + fmt::format(" on {} ranks\n\n", base.ranks) + table.render(0);
}

std::string render_json_sweep(const SweepReport& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SweepRun& run : report.runs) {
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < report.axes.size(); ++i) {
      const double value = run.values[i];
      auto& place = entry[report.axes[i].name];
      if (!report.axes[i].is_size)
        place = value;
      else if (!std::isinf(value))
        place = static_cast<std::uint64_t>(value);
    }
    entry["ranks"] = run.ranks;
    entry["time"] = to_seconds(run.time);
    entry["serial_time"] = to_seconds(run.serial_time);
    entry["wait"] = to_seconds(run.wait);
    entry["speedup"] = or_null(speedup(run));
    entry["efficiency"] = or_null(efficiency(run));
    entry["ratio"] = ratio(run, report);
    entry["notes"] = report.notes;
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

std::string render_csv_sweep(const SweepReport& report) {
  std::string out;
  for (const SweepAxis& axis : report.axes) out += axis.name + ",";
  out += "ranks,time,serial_time,wait,speedup,efficiency,ratio\n";
  for (const SweepRun& run : report.runs) {
    for (const double value : run.values) out += fmt::format("{},", value);
    out += fmt::format("{},{},{},{},{},{},{}\n", run.ranks, to_seconds(run.time),
                       to_seconds(run.serial_time), to_seconds(run.wait), csv_cell(speedup(run)),
                       csv_cell(efficiency(run)), ratio(run, report));
  }
  return out;
}

}  // namespace foretrace::views
