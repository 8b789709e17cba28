#include "views/model/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "views/datasheet/datasheet.hpp"
#include "views/draw/charts.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

using formulas::Phase;
using formulas::Spread;
using formulas::SweepPoint;

std::string seconds(double value) {
  return value < 0 ? "-" + format_picoseconds(-value * 1e12) : format_picoseconds(value * 1e12);
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

nlohmann::ordered_json json_of(const Spread& spread) {
  return {{"min", spread.min}, {"avg", spread.avg}, {"max", spread.max}};
}

nlohmann::ordered_json json_of(const ModelReport& report, const SweepPoint& point) {
  nlohmann::ordered_json out{{"model", report.model}};
  if (!report.machine.empty()) out["machine"] = report.machine;
  nlohmann::ordered_json at = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < report.sweep.axes.size(); ++i)
    at[report.sweep.axes[i].name] = point.values[i];
  for (const auto& [name, value] : report.at) at[name] = value;
  out["at"] = std::move(at);
  out["total"] = json_of(point.result.total);
  out["phases"] = nlohmann::ordered_json::object();
  for (const Phase& phase : point.result.phases) out["phases"][phase.name] = json_of(phase.time);
  if (point.speedup) out["speedup"] = *point.speedup;
  if (!point.result.notes.empty()) out["notes"] = point.result.notes;
  return out;
}

std::set<std::string> notes_of(const ModelReport& report) {
  std::set<std::string> notes;
  for (const SweepPoint& point : report.sweep.points)
    notes.insert(point.result.notes.begin(), point.result.notes.end());
  return notes;
}

std::string text_notes(const ModelReport& report) {
  std::string out;
  for (const std::string& note : notes_of(report)) out += "note: " + note + "\n";
  return out;
}

std::string title_of(const ModelReport& report) {
  std::string out = report.model;
  if (!report.machine.empty()) out += " on " + report.machine;
  for (const auto& [name, value] : report.at) out += fmt::format(", {} = {}", name, number(value));
  return out;
}

std::string text_point(const ModelReport& report) {
  const formulas::Evaluation& result = report.sweep.points.front().result;
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
  table.add({"phase", "min", "avg", "max", "share"});
  const auto row = [&](const std::string& name, const Spread& time) {
    const double share = result.total.avg > 0 ? time.avg / result.total.avg : 0;
    table.add(
        {name, seconds(time.min), seconds(time.avg), seconds(time.max), format_percent(share)});
  };
  for (const Phase& phase : result.phases) row(phase.name, phase.time);
  row("total", result.total);
  return title_of(report) + "\n\n" + table.render(0);
}

bool has_speedup(const ModelReport& report) {
  return std::ranges::any_of(report.sweep.points,
                             [](const SweepPoint& point) { return point.speedup.has_value(); });
}

std::string text_sweep(const ModelReport& report) {
  const auto& sweep = report.sweep;
  const bool speedup = has_speedup(report);
  TextTable table(std::vector<Align>(sweep.axes.size() + 4, Align::right));
  std::vector<std::string> head;
  for (const auto& axis : sweep.axes) head.push_back(axis.name);
  head.insert(head.end(), {"min", "total", "max"});
  if (speedup) head.emplace_back("speed-up");
  table.add(head);
  const SweepPoint* best = &sweep.points.front();
  for (const SweepPoint& point : sweep.points) {
    if (point.result.total.avg < best->result.total.avg) best = &point;
    std::vector<std::string> row;
    for (const double value : point.values) row.push_back(number(value));
    const Spread& total = point.result.total;
    row.insert(row.end(), {seconds(total.min), seconds(total.avg), seconds(total.max)});
    if (speedup) row.push_back(point.speedup ? format_ratio(*point.speedup) : "-");
    table.add(row);
  }
  std::string least = "least time: " + seconds(best->result.total.avg) + " at";
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    least += fmt::format("{} {} = {}", i ? "," : "", sweep.axes[i].name, number(best->values[i]));
  return title_of(report) + "\n\n" + table.render(0) + least + "\n";
}

// A CSV cell; quoted where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The axes that have several values, most two; the first is drawn over.
std::vector<std::size_t> drawn_axes(const ModelReport& report) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < report.sweep.axes.size(); ++i)
    if (report.sweep.axes[i].values.size() > 1) out.push_back(i);
  if (out.empty())
    throw UsageError("model: a picture needs a parameter with several values: --sweep p=1..64");
  return out;
}

// The points at which all axes but `axis` have their first value.
std::vector<const SweepPoint*> along(const ModelReport& report, std::size_t axis) {
  std::vector<const SweepPoint*> out;
  for (const SweepPoint& point : report.sweep.points) {
    bool first = true;
    for (std::size_t i = 0; i < point.values.size(); ++i)
      first = first && (i == axis || point.values[i] == report.sweep.axes[i].values.front());
    if (first) out.push_back(&point);
  }
  return out;
}

StackedBars bars_of(const ModelReport& report, std::size_t axis) {
  StackedBars bars{title_of(report), report.sweep.axes[axis].name, "time in s", {}, {}};
  for (const SweepPoint* point : along(report, axis)) {
    bars.columns.push_back(number(point->values[axis]));
    for (const Phase& phase : point->result.phases) {
      auto part = std::ranges::find(bars.parts, phase.name, &StackedBars::Part::label);
      if (part == bars.parts.end()) part = bars.parts.insert(part, {phase.name, {}});
      part->values.resize(bars.columns.size() - 1);
      part->values.push_back(phase.time.avg);
    }
  }
  return bars;
}

Plot lines_of(const ModelReport& report, std::size_t axis, bool speedup) {
  Plot plot;
  plot.title = speedup ? "speed-up" : "time, with its minimum and maximum";
  plot.x_label = report.sweep.axes[axis].name;
  plot.y_label = speedup ? "T(1) / T(p)" : "time in s";
  plot.log_y = !speedup;
  PlotSeries series{speedup ? "speed-up" : "total", false, 0, {{}}};
  for (const SweepPoint* point : along(report, axis)) {
    const double x = point->values[axis];
    const Spread& total = point->result.total;
    if (!(x > 0)) continue;  // the axis is logarithmic
    if (speedup && point->speedup)
      series.pieces.front().push_back({x, *point->speedup, *point->speedup, *point->speedup});
    if (!speedup && total.min > 0)
      series.pieces.front().push_back({x, total.avg, total.min, total.max});
  }
  std::ranges::sort(series.pieces.front(), {}, &PlotPoint::x);
  if (!series.pieces.front().empty()) plot.series.push_back(series);
  return plot;
}

HeatMap map_of(const ModelReport& report, std::size_t x, std::size_t y) {
  const auto& axes = report.sweep.axes;
  HeatMap map{"time over " + axes[x].name + " and " + axes[y].name,
              axes[x].name,
              axes[y].name,
              "time in s",
              {},
              {},
              {},
              true};
  for (const double value : axes[x].values) map.columns.push_back(number(value));
  for (const double value : axes[y].values) map.rows.push_back(number(value));
  map.values.resize(map.columns.size() * map.rows.size());
  for (const SweepPoint& point : report.sweep.points) {
    bool first = true;
    for (std::size_t i = 0; i < axes.size(); ++i)
      first = first && (i == x || i == y || point.values[i] == axes[i].values.front());
    if (!first) continue;
    const auto column = std::ranges::find(axes[x].values, point.values[x]) - axes[x].values.begin();
    const auto row = std::ranges::find(axes[y].values, point.values[y]) - axes[y].values.begin();
    map.values[static_cast<std::size_t>(row) * map.columns.size() +
               static_cast<std::size_t>(column)] = point.result.total.avg;
  }
  return map;
}

}  // namespace

std::string render_text_model(const ModelReport& report) {
  return (report.sweep.axes.empty() ? text_point(report) : text_sweep(report)) + text_notes(report);
}

std::string render_json_model(const ModelReport& report) {
  if (report.sweep.axes.empty()) return json_text(json_of(report, report.sweep.points.front()));
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const SweepPoint& point : report.sweep.points) all.push_back(json_of(report, point));
  return json_text(all);
}

std::string render_csv_model(const ModelReport& report) {
  std::string out;
  std::vector<std::string> phases;
  for (const SweepPoint& point : report.sweep.points)
    for (const Phase& phase : point.result.phases)
      if (std::ranges::find(phases, phase.name) == phases.end()) phases.push_back(phase.name);
  for (const auto& axis : report.sweep.axes) out += cell(axis.name) + ",";
  out += "total_min,total,total_max,speedup";
  for (const std::string& phase : phases) out += "," + cell(phase);
  out += "\n";
  for (const SweepPoint& point : report.sweep.points) {
    for (const double value : point.values) out += fmt::format("{},", value);
    const Spread& total = point.result.total;
    out += fmt::format("{},{},{},{}", total.min, total.avg, total.max,
                       point.speedup ? fmt::format("{}", *point.speedup) : "");
    for (const std::string& name : phases) {
      const auto phase = std::ranges::find(point.result.phases, name, &Phase::name);
      out += phase == point.result.phases.end() ? "," : fmt::format(",{}", phase->time.avg);
    }
    out += "\n";
  }
  return out;
}

std::string render_svg_model(const ModelReport& report) {
  return svg_file(render_stacked_svg(bars_of(report, drawn_axes(report).front())));
}

std::string render_html_model(const ModelReport& report) {
  const std::vector<std::size_t> axes = drawn_axes(report);
  std::string out =
      begin_page(title_of(report), std::string(svg_plot_style()) + std::string(chart_style()) +
                                       std::string(picture_style()));
  for (const std::string& note : notes_of(report)) out += "<p>" + escape_html(note) + "</p>\n";
  out += "<h2>Time by phase</h2>\n" + render_stacked_svg(bars_of(report, axes.front()));
  if (has_speedup(report) && report.sweep.axes[axes.front()].name == "p")
    out += "<h2>Speed-up</h2>\n" + render_svg_figure(lines_of(report, axes.front(), true));
  if (const Plot times = lines_of(report, axes.front(), false); !times.series.empty())
    out += "<h2>Time</h2>\n" + render_svg_figure(times);
  if (axes.size() > 1)
    out += "<h2>Two parameters</h2>\n" +
           render_svg_picture(draw_heat_map(map_of(report, axes[0], axes[1])));
  return out + "<h2>Figures</h2>\n<pre>" + escape_html(render_text_model(report)) + "</pre>\n" +
         end_page();
}

std::string render_gnuplot_model(const ModelReport& report, const std::string& name) {
  const std::size_t axis = drawn_axes(report).front();
  const StackedBars bars = bars_of(report, axis);
  const auto quoted = [](std::string text) {
    std::ranges::replace(text, '\'', '"');
    std::ranges::replace(text, '\n', ' ');
    return "'" + text + "'";
  };
  std::string out = "# gnuplot " + name + ".gp draws " + name + ".svg\n$times << END\n";
  for (std::size_t column = 0; column < bars.columns.size(); ++column) {
    out += bars.columns[column];
    for (const auto& part : bars.parts)
      out += fmt::format(" {}", column < part.values.size() ? part.values[column] : 0.0);
    out += "\n";
  }
  out += fmt::format(
      "END\nset terminal svg size 800,500 dynamic background 'white'\nset output {}\n"
      "set title {} noenhanced\nset key outside noenhanced\nset style data histograms\n"
      "set style histogram rowstacked\nset style fill solid 0.8\nset boxwidth 0.8\n"
      "set xlabel {}\nset ylabel 'time in s'\nplot ",
      quoted(name + ".svg"), quoted(bars.title), quoted(bars.x_label));
  for (std::size_t i = 0; i < bars.parts.size(); ++i)
    out += fmt::format("{}$times using {}{} title {}", i ? ", \\\n     " : "", i + 2,
                       i ? "" : ":xtic(1)", quoted(bars.parts[i].label));
  return out + "\n";
}

}  // namespace foretrace::views
