#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "results/graph_file.hpp"
#include "views/results/graphs.hpp"
#include "views/results/page.hpp"
#include "views/results/tables.hpp"

namespace foretrace::cli {
namespace results_command {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string where;
  std::vector<std::string> compare;
  std::vector<std::string> quantities;
  std::vector<std::string> over;
  std::string output;
  bool launches = false;
  bool all = false;
  bool summary = false;
  bool json = false;
  bool csv = false;
};

std::string both(const std::string& where, const std::string& more) {
  return where.empty() ? more : "(" + where + "\n) AND " + more;
}

std::string sql_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

struct Sides {
  results::Table tables[2];
  std::string names[2];
};

Sides read_sides(const Options& options) {
  Sides out;
  std::future<results::Table> reading[2];  // large ones take a while
  for (std::size_t i = 0; i < 2; ++i) {
    results::Query query{options.where, false, options.quantities};
    const std::string& file = options.files[options.files.size() == 2 ? i : 0];
    if (options.compare.empty()) {
      out.names[i] = file;
    } else {
      out.names[i] = options.compare[i];
      query.where = both(options.where, "way = " + sql_text(out.names[i]));
    }
    reading[i] = std::async(std::launch::async, results::read_table, file, query);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    out.tables[i] = reading[i].get();
    if (out.tables[i].rows.empty())
      throw UsageError("results: there are no points of '" + out.names[i] + "'" +
                       (options.where.empty() ? "" : " where that holds"));
  }
  return out;
}

void compare(const Options& options) {
  const auto& [tables, names] = read_sides(options);
  const results::Comparison comparison = results::compare(tables[0], tables[1], options.quantities);
  std::fputs((options.json  ? views::render_json_comparison(comparison, names[0], names[1])
              : options.csv ? views::render_csv_comparison(comparison)
                            : views::render_text_comparison(comparison, names[0], names[1]))
                 .c_str(),
             stdout);
}

std::string stem_of(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

// Over which two columns: those that were asked for, or those that there are.
std::pair<std::string, std::string> axes_of(const Options& options, const results::Table& points) {
  if (!options.over.empty()) return {options.over[0], options.over[1]};
  if (const auto axes = results::axes_of(points)) return *axes;
  throw UsageError(
      "results: the points have no ranks and sizes to draw over; name two columns: --over ranks,n");
}

void write_pictures(const std::string& path, const std::string& ending,
                    const std::vector<views::Picture>& pictures) {
  write_output(path, ending == ".pdf" ? views::render_pdf(pictures)
                                      : views::render_svg_file(views::stacked(pictures)));
}

void write_surfaces(const Options& options, const std::string& ending,
                    const std::vector<results::Surface>& surfaces) {
  if (surfaces.empty())
    throw UsageError("results: there are no four neighbouring points, and no surface without them");
  if (ending == ".gp")
    write_output(options.output, views::render_gnuplot_surfaces(surfaces, stem_of(options.output)));
  else
    write_pictures(options.output, ending, views::draw_surfaces(surfaces));
}

// The ratio of two surfaces, and both.
void write_comparison(const Options& options) {
  const std::string ending =
      ending_of(options.output, "results", {".html", ".svg", ".pdf", ".gp", ".csv"});
  const auto& [tables, names] = read_sides(options);
  const results::Comparison comparison = results::compare(tables[0], tables[1], options.quantities);
  if (ending == ".csv") {
    write_output(options.output, views::render_csv_comparison(comparison));
    return;
  }
  const results::Table ratios = results::ratios_of(comparison);
  const auto [x, y] = axes_of(options, ratios);
  const std::vector<std::string> quantities = options.quantities.empty()
                                                  ? std::vector{comparison.quantities.front().name}
                                                  : options.quantities;
  std::vector<results::Surface> surfaces = results::surfaces_of(ratios, x, y, quantities);
  for (results::Surface& surface : surfaces)
    surface.quantity = names[1] + " / " + names[0] + ", " + surface.quantity;
  for (std::size_t i = 0; i < 2; ++i)
    for (results::Surface& surface : results::surfaces_of(tables[i], x, y, quantities)) {
      surface.of.insert(surface.of.begin(), {"side", names[i]});
      surfaces.push_back(std::move(surface));
    }
  if (ending == ".html")
    write_output(options.output,
                 views::render_html_ratio(
                     names[1] + " / " + names[0],
                     views::render_text_comparison(comparison, names[0], names[1]), surfaces));
  else
    write_surfaces(options, ending, surfaces);
}

std::vector<results::Surface> surfaces_with_speedup(const results::Table& points,
                                                    const std::pair<std::string, std::string>& axes,
                                                    const std::vector<std::string>& quantities) {
  std::vector<results::Surface> out;
  for (results::Surface& surface :
       results::surfaces_of(points, axes.first, axes.second, quantities)) {
    std::optional<results::Surface> speedup = results::speedup_of(surface);
    out.push_back(std::move(surface));
    if (speedup) out.push_back(std::move(*speedup));
  }
  return out;
}

bool has_column(const results::Table& table, const std::string& name) {
  return std::ranges::find(table.columns, name, &results::Column::name) != table.columns.end();
}

// How launches vary, of the quantities that were asked for.
std::vector<results::Spread> read_spreads(const Options& options, const std::string& where) {
  const std::vector<std::string> names =
      options.quantities.empty() ? std::vector<std::string>{"time"} : options.quantities;
  const results::Table launches = results::read_table(options.files.front(), {where, true, names});
  std::vector<results::Spread> out;
  for (const std::string& name : names)
    if (has_column(launches, name))
      for (results::Spread& each : results::spreads_of(launches, name))
        out.push_back(std::move(each));
  return out;
}

void write_spreads(const Options& options, const std::string& ending, const std::string& where) {
  const std::vector<results::Spread> spreads = read_spreads(options, where);
  if (spreads.empty()) throw UsageError("results: no point has several launches to tell apart");
  if (ending == ".gp")
    write_output(options.output, views::render_gnuplot_spreads(spreads, stem_of(options.output)));
  else
    write_pictures(options.output, ending, views::draw_spreads(spreads));
}

views::StudyPage page_of(const Options& options, const std::string& where) {
  const std::string& file = options.files.front();
  views::StudyPage page{
      stem_of(file), options.where, results::read_account(file, options.where), {}, {}};
  if (page.account.studies.size() == 1) page.title = page.account.studies.front().name;
  page.points = results::read_table(file, {where, false, options.quantities});
  page.scaling = results::scaling_of(page.points);
  return page;
}

void write_page(const Options& options, const std::string& where) {
  views::StudyPage page = page_of(options, where);
  const auto axes =
      options.over.empty() ? results::axes_of(page.points) : axes_of(options, page.points);
  if (axes) page.surfaces = surfaces_with_speedup(page.points, *axes, options.quantities);
  if (has_column(page.points, "time") || !options.quantities.empty())
    page.spreads = read_spreads(options, where);
  write_output(options.output, views::render_html_study(page));
}

void write(const Options& options) {
  const std::string ending =
      ending_of(options.output, "results", {".html", ".svg", ".pdf", ".gp", ".csv", ".graph"});
  const std::string& file = options.files.front();
  const std::string where = both(options.where, "kind <> 'record'");
  if (options.launches && (ending == ".html" || ending == ".graph"))
    throw UsageError("results: --launches: " + ending + " has points; use .csv, .svg, .pdf or .gp");
  if (ending == ".csv") {
    write_output(options.output, views::render_csv_results(results::read_table(
                                     file, {options.where, options.launches, options.quantities})));
  } else if (ending == ".html") {
    write_page(options, where);
  } else if (options.launches) {
    write_spreads(options, ending, where);
  } else if (ending == ".graph") {
    const results::Table points = results::read_table(file, {where, false, {}});
    const auto [x, y] = axes_of(options, points);
    if (x != "ranks")
      throw UsageError("results: .graph has ranks and one parameter: --over ranks," + y);
    write_output(options.output, results::format_graph(results::graph_of(points, y)));
  } else if (!options.over.empty()) {
    const results::Table points = results::read_table(file, {where, false, options.quantities});
    write_surfaces(options, ending,
                   surfaces_with_speedup(points, axes_of(options, points), options.quantities));
  } else if (ending == ".gp") {
    write_output(options.output,
                 views::render_gnuplot_study(page_of(options, where), stem_of(options.output)));
  } else {
    write_pictures(options.output, ending, views::draw_study(page_of(options, where)));
  }
}

int show(const Options& options) {
  if (options.json && options.csv) throw UsageError("results: --json and --csv: choose one");
  if (options.files.size() > 2) throw UsageError("results: one file, or two to compare");
  if (!options.compare.empty() && options.compare.size() != 2)
    throw UsageError("--compare: expected two ways, such as measured,predicted");
  const bool compares = options.files.size() == 2 || !options.compare.empty();
  if (!options.over.empty() && (options.over.size() != 2 || options.over[0] == options.over[1]))
    throw UsageError("--over: expected two columns, such as ranks,n");
  if (!options.output.empty()) {
    if (options.summary || options.json || options.csv || (compares && options.launches))
      throw UsageError(
          "results: -o writes graphs; not with --summary, --json, --csv, nor a comparison with "
          "--launches");
    compares ? write_comparison(options) : write(options);
    return 0;
  }
  if (!options.over.empty())
    throw UsageError("results: --over is for graphs: -o FILE.html, .svg, .pdf, .gp or .graph");
  if (compares) {
    compare(options);
    return 0;
  }
  const std::string& file = options.files.front();
  if (options.summary) {
    std::fputs(views::render_text_summary(results::read_summary(file)).c_str(), stdout);
    return 0;
  }
  const results::Table table =
      results::read_table(file, {options.where, options.launches, options.quantities});
  const bool brief = options.quantities.empty() && !options.all;
  std::fputs((options.json  ? views::render_json_results(table)
              : options.csv ? views::render_csv_results(table)
                            : views::render_text_results(table, brief))
                 .c_str(),
             stdout);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("results", options->files,
                 "What studies kept: a file (or FILE.graph), or two to compare")
      ->required();
  app.add_option("--where", options->where,
                 "Only rows for which that holds, in SQL: 'ranks >= 8 and machine = \"cray-t3d\"'")
      ->allow_extra_args(false);
  app.add_option("--quantity", options->quantities, "Only these quantities: time,phase_compute")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--compare", options->compare, "Two ways side by side: measured,predicted")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--launches", options->launches,
               "Each launch, also failed ones, instead of medians over the launches of a point");
  app.add_flag("--all", options->all, "Print all quantities, also states");
  app.add_flag("--summary", options->summary, "How many launches there are, where they come from");
  app.add_option("--over", options->over, "Draw surfaces over two columns: ranks,n")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-o,--output", options->output,
                 "Draw them: a page for the whole study FILE.html; FILE.svg, .pdf, .gp; or .csv, "
                 ".graph");
  app.add_flag("--json", options->json, "Print an array of objects");
  app.add_flag("--csv", options->csv, "Print a table with commas");
  return [options] { return show(*options); };
}

}  // namespace
}  // namespace results_command

const Subcommand kResults{
    "results", "List, filter and compare what studies kept", results_command::declare,
    "foretrace results scaling.db --where 'ranks >= 8 and machine = \"cray-t3d\"'\n"
    "foretrace results scaling.db --compare measured,predicted\n"
    "foretrace results scaling.db -o scaling.html\n"
    "foretrace results before.db after.db --csv\n"
    "foretrace results measured.graph predicted.graph -o ratio.html\n"};

}  // namespace foretrace::cli
