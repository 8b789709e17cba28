#include "views/results/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "views/datasheet/datasheet.hpp"
#include "views/draw/charts.hpp"
#include "views/draw/gnuplot_text.hpp"
#include "views/draw/html_table.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/units.hpp"
#include "views/results/graphs.hpp"
#include "views/results/surface.hpp"
#include "views/results/tables.hpp"

namespace foretrace::views {
namespace {

using results::ScalingGroup;
using results::ScalingPoint;
using results::ScalingSeries;

constexpr std::size_t kMostGroups = 40;
constexpr std::size_t kMostSeries = 13;  // for which a legend has room
constexpr std::size_t kMostRows = 2000;
constexpr const char* kStyle = "pre { overflow-x: auto; } .failed { color: var(--c1); }\n";

std::string paragraph(const std::string& text) {
  return "<p>" + escape_html(text) + "</p>\n";
}

std::string seconds(double value) {
  return format_picoseconds(value * 1e12);
}

std::string label_of(const ScalingSeries& series) {
  std::string out = series.way;
  if (!series.machine.empty()) out += (out.empty() ? "" : ", ") + series.machine;
  return out.empty() ? "time" : out;
}

std::string title_of(const ScalingGroup& group) {
  std::string out;
  for (const auto& [name, value] : group.of)
    out += (out.empty() ? "" : ", ") + (name == "program" ? value : name + " = " + value);
  return out.empty() ? "all points" : out;
}

// Something to see over ranks.
bool is_drawn(const ScalingGroup& group) {
  return std::ranges::any_of(group.series, [](const auto& each) { return each.points.size() > 1; });
}

enum class Shown { time, speedup, efficiency };

Plot plot_of(const ScalingGroup& group, Shown shown) {
  Plot plot;
  plot.x_label = "ranks";
  plot.log_y = shown == Shown::time;
  plot.title = shown == Shown::time      ? "run time"
               : shown == Shown::speedup ? "speed-up against the fewest ranks"
                                         : "efficiency against the fewest ranks";
  plot.y_label = shown == Shown::time      ? "time in s"
                 : shown == Shown::speedup ? "T(r) / T(p)"
                                           : "r T(r) / (p T(p))";
  for (std::size_t i = 0; i < std::min(group.series.size(), kMostSeries); ++i) {
    const ScalingSeries& series = group.series[i];
    std::string label = label_of(series);
    if (shown != Shown::time && series.points.front().ranks != 1)
      label += fmt::format(", r = {}", series.points.front().ranks);
    PlotSeries line{label, false, static_cast<int>(i), {{}}};
    for (const ScalingPoint& point : series.points) {
      const double y = shown == Shown::time      ? point.time
                       : shown == Shown::speedup ? point.speedup
                                                 : point.efficiency;
      const bool band = shown == Shown::time;
      line.pieces.front().push_back(
          {static_cast<double>(point.ranks), y, band ? point.low : y, band ? point.high : y});
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

std::string phases_of(const ScalingGroup& group, const std::vector<std::string>& phases) {
  std::string out;
  for (const ScalingSeries& series : group.series) {
    StackedBars bars{label_of(series), "ranks", "time in s", {}, {}};
    for (const ScalingPoint& point : series.points)
      bars.columns.push_back(std::to_string(point.ranks));
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      StackedBars::Part part{phases[phase], {}};
      bool known = false;
      for (const ScalingPoint& point : series.points) {
        known = known || point.phases[phase].has_value();
        part.values.push_back(point.phases[phase].value_or(0));
      }
      if (known) bars.parts.push_back(std::move(part));
    }
    if (!bars.parts.empty()) out += render_stacked_svg(bars);
  }
  return out.empty() ? out : "<details><summary>Time by phase</summary>\n" + out + "</details>\n";
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (const std::int64_t number : numbers)
    out += (out.empty() ? "" : ", ") + std::to_string(number);
  return out;
}

std::string asked(const StudyPage& page) {
  std::string out = "<h2>What was asked</h2>\n";
  for (const auto& study : page.account.studies) {
    out += paragraph(study.name + ", of the file " + study.file + ", first run " + study.added);
    out += "<details><summary>The study</summary>\n<pre>" + escape_html(study.text) +
           "</pre></details>\n";
  }
  if (!page.where.empty()) out += paragraph("Of that only: " + page.where);
  return out;
}

std::string run_where(const StudyPage& page) {
  std::string out = "<h2>What was run, and where</h2>\n";
  out +=
      paragraph(fmt::format("{} launches, {} failed; {} points with a result.",
                            page.account.launches, page.account.failed, page.points.rows.size()));
  if (page.account.places.empty()) return out;
  HtmlTable table(
      {"host", "Foretrace", "first launch", "last launch", "launches", "time spent", "environment"},
      4, true);
  for (const auto& place : page.account.places)
    table.add({place.host, place.version, place.first, place.last, std::to_string(place.launches),
               seconds(place.elapsed), place.environment});
  return out + table.finish();
}

std::string missing(const StudyPage& page) {
  std::string out = "<h2>What is missing</h2>\n";
  const auto& unfinished = page.account.unfinished;
  if (unfinished.empty()) {
    out += paragraph("No point has failed for good.");
  } else {
    out += paragraph(fmt::format(
        "Points without a result, as all their launches failed: {}. The same foretrace study "
        "tries them again.",
        unfinished.size()));
    HtmlTable table({"program", "way", "machine", "command", "ranks", "failed", "why"}, 4, true);
    for (std::size_t i = 0; i < std::min(unfinished.size(), kMostRows); ++i) {
      const auto& each = unfinished[i];
      table.add({each.program, each.way, each.machine, each.command,
                 each.ranks > 0 ? std::to_string(each.ranks) : "", std::to_string(each.failed),
                 each.message});
    }
    out += table.finish();
    if (unfinished.size() > kMostRows) out += paragraph("... and more.");
  }
  std::string holes;
  for (const ScalingGroup& group : page.scaling.groups)
    for (const ScalingSeries& series : group.series)
      if (!series.missing.empty())
        holes += "<li>" +
                 escape_html(title_of(group) + ", " + label_of(series) + ": " +
                             list_of(series.missing)) +
                 "</li>\n";
  if (!holes.empty())
    out += paragraph(
               "Numbers of ranks that others beside them have, and these have not (not asked for, "
               "not run yet, or failed):") +
           "<ul>\n" + holes + "</ul>\n";
  return out + paragraph(
                   "Points that were never started are not known to the file; foretrace "
                   "study runs them.");
}

std::string remarks(const StudyPage& page) {
  const results::Scaling& scaling = page.scaling;
  std::string out;
  if (scaling.left_out > 0)
    out +=
        paragraph(fmt::format("{} points have no time or no known number of ranks; they are "
                              "in the table only.",
                              scaling.left_out));
  if (scaling.replaced > 0)
    out +=
        paragraph(fmt::format("{} points were run anew after the program, a machine or a "
                              "command had changed: graphs show the latest, the table all.",
                              scaling.replaced));
  if (!scaling.grown.empty()) {
    std::string names;
    for (const std::string& name : scaling.grown) names += (names.empty() ? "" : ", ") + name;
    out += paragraph("With the ranks goes " + names + ": no speed-up is drawn.");
  }
  return out;
}

std::string graphs(const StudyPage& page) {
  std::string out = "<h2>Over ranks</h2>\n" + remarks(page);
  std::size_t drawn = 0;
  std::size_t skipped = 0;
  bool phases = false;
  std::string pictures;
  for (const ScalingGroup& group : page.scaling.groups) {
    if (!is_drawn(group)) continue;
    if (drawn == kMostGroups) {
      ++skipped;
      continue;
    }
    ++drawn;
    pictures += "<h3>" + escape_html(title_of(group)) + "</h3>\n";
    if (group.series.size() > kMostSeries)
      pictures += paragraph(
          fmt::format("The first {} of {} ways and machines.", kMostSeries, group.series.size()));
    pictures += render_svg_figure(plot_of(group, Shown::time));
    if (page.scaling.grown.empty())
      pictures += render_svg_figure(plot_of(group, Shown::speedup)) +
                  render_svg_figure(plot_of(group, Shown::efficiency));
    const std::string bars = phases_of(group, page.scaling.phases);
    phases = phases || !bars.empty();
    pictures += bars;
  }
  if (drawn == 0) out += paragraph("Nothing was run with several numbers of ranks.");
  if (phases)
    out += paragraph(
        "Phases of programs are the longest over all ranks and include the phases inside them: "
        "stacked they may be more than the run time. Those of models add up.");
  if (skipped > 0)
    out += paragraph(
        fmt::format("{} more sets of parameters are not drawn: choose with --where.", skipped));
  return out + pictures;
}

std::string more_graphs(const StudyPage& page) {
  std::string out;
  if (!page.surfaces.empty())
    out += "<h2>Over " + escape_html(page.surfaces.front().x_name) + " and " +
           escape_html(page.surfaces.front().y_name) + "</h2>\n" + surfaces_of_page(page.surfaces);
  if (!page.spreads.empty())
    out += "<h2>From launch to launch</h2>\n" + spreads_of_page(page.spreads);
  return out;
}

std::string figures(const StudyPage& page) {
  const results::Table& points = page.points;
  std::string out = "<h2>Figures</h2>\n";
  if (points.rows.empty()) return out + paragraph("There are no points.");
  out += paragraph("Medians over the launches of a point.");
  std::vector<std::string> head;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < points.columns.size(); ++i) {
    if (points.columns[i].kind == results::ColumnKind::note) continue;
    head.push_back(points.columns[i].name);
    if (texts == i && std::holds_alternative<std::string>(points.rows.front()[i])) ++texts;
  }
  HtmlTable table(head, texts);
  for (std::size_t row = 0; row < std::min(points.rows.size(), kMostRows); ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < points.columns.size(); ++i)
      if (points.columns[i].kind != results::ColumnKind::note)
        cells.push_back(result_text(points.columns[i], points.rows[row][i]));
    table.add(cells);
  }
  out += table.finish();
  if (points.rows.size() > kMostRows)
    out += paragraph(
        fmt::format("The first {} of {} points; --csv has all.", kMostRows, points.rows.size()));
  for (const std::string& note : points.notes()) out += paragraph("Note: " + note);
  return out;
}

}  // namespace

std::string render_html_study(const StudyPage& page) {
  return begin_page(page.title, std::string(svg_plot_style()) + std::string(chart_style()) +
                                    std::string(picture_style()) + kStyle) +
         asked(page) + run_where(page) + missing(page) + graphs(page) + more_graphs(page) +
         figures(page) + (page.surfaces.empty() ? "" : std::string(surface_script())) + end_page();
}

std::vector<Picture> draw_study(const StudyPage& page) {
  std::vector<Picture> out;
  for (const ScalingGroup& group : page.scaling.groups) {
    if (!is_drawn(group)) continue;
    Plot plot = plot_of(group, Shown::time);
    plot.title = title_of(group) + ": run time";
    out.push_back(draw_lines(plot));
  }
  if (out.empty())
    throw UsageError("results: a picture needs points with several numbers of ranks");
  return out;
}

std::string render_gnuplot_study(const StudyPage& page, const std::string& name) {
  std::string data;
  std::string plots;
  std::size_t count = 0;
  for (const ScalingGroup& group : page.scaling.groups) {
    if (!is_drawn(group)) continue;
    plots += "set title " + gnuplot_quoted(title_of(group)) + " noenhanced\nplot ";
    for (std::size_t i = 0; i < group.series.size(); ++i) {
      const std::string block = fmt::format("$g{}s{}", count, i);
      data += block + " << END\n";
      for (const ScalingPoint& point : group.series[i].points)
        data += fmt::format("{} {} {} {}\n", point.ranks, point.time, point.low, point.high);
      data += "END\n";
      plots += fmt::format("{}{} using 1:2:3:4 with yerrorlines title {}", i ? ", \\\n     " : "",
                           block, gnuplot_quoted(label_of(group.series[i])));
    }
    plots += "\n";
    ++count;
  }
  if (count == 0) throw UsageError("results: a picture needs points with several numbers of ranks");
  return "# gnuplot " + name + ".gp draws " + name + ".svg; columns: ranks, time, low, high\n" +
         data +
         fmt::format(
             "set terminal svg size 800,{} dynamic background 'white'\nset output {}\n"
             "set key outside noenhanced\nset logscale x 2\nset logscale y\n"
             "set xlabel 'ranks'\nset ylabel 'time in s'\nset multiplot layout {},1\n",
             500 * count, gnuplot_quoted(name + ".svg"), count) +
         plots + "unset multiplot\n";
}

}  // namespace foretrace::views
