#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cli/output_file.hpp"
#include "cli/subcommand.hpp"
#include "views/results/page.hpp"
#include "views/results/tables.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string where;
  std::vector<std::string> compare;
  std::vector<std::string> quantities;
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

void compare(const Options& options) {
  results::Table sides[2];
  std::string names[2];
  for (std::size_t i = 0; i < 2; ++i) {
    results::Query query{options.where, false, options.quantities};
    const std::string& file = options.files[options.files.size() == 2 ? i : 0];
    if (options.compare.empty()) {
      names[i] = file;
    } else {
      names[i] = options.compare[i];
      query.where = both(options.where, "way = " + sql_text(names[i]));
    }
    sides[i] = results::read_table(file, query);
    if (sides[i].rows.empty())
      throw UsageError("results: there are no points of '" + names[i] + "'" +
                       (options.where.empty() ? "" : " where that holds"));
  }
  const results::Comparison comparison = results::compare(sides[0], sides[1], options.quantities);
  std::fputs((options.json  ? views::render_json_comparison(comparison, names[0], names[1])
              : options.csv ? views::render_csv_comparison(comparison)
                            : views::render_text_comparison(comparison, names[0], names[1]))
                 .c_str(),
             stdout);
}

void write(const Options& options) {
  const std::string ending = ending_of(options.output, "results", {".html", ".csv", ".gp"});
  const std::string& file = options.files.front();
  if (ending == ".csv") {
    write_output(options.output, views::render_csv_results(results::read_table(
                                     file, {options.where, options.launches, options.quantities})));
    return;
  }
  if (options.launches) throw UsageError("results: --launches: a page has points; use .csv");
  views::StudyPage page{std::filesystem::path(file).stem().string(),
                        options.where,
                        results::read_account(file, options.where),
                        {},
                        {}};
  if (page.account.studies.size() == 1) page.title = page.account.studies.front().name;
  page.points = results::read_table(
      file, {both(options.where, "kind <> 'record'"), false, options.quantities});
  page.scaling = results::scaling_of(page.points);
  write_output(options.output,
               ending == ".html"
                   ? views::render_html_study(page)
                   : views::render_gnuplot_study(
                         page, std::filesystem::path(options.output).stem().string()));
}

int show(const Options& options) {
  if (options.json && options.csv) throw UsageError("results: --json and --csv: choose one");
  if (options.files.size() > 2) throw UsageError("results: one file, or two to compare");
  if (!options.compare.empty() && options.compare.size() != 2)
    throw UsageError("--compare: expected two ways, such as measured,predicted");
  const bool compares = options.files.size() == 2 || !options.compare.empty();
  if (!options.output.empty()) {
    if (compares || options.summary || options.json || options.csv)
      throw UsageError(
          "results: -o writes the points of one file; not with --compare, --summary, --json, "
          "--csv");
    write(options);
    return 0;
  }
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
  app.add_option("results", options->files, "What studies kept: a file, or two to compare")
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
  app.add_option("-o,--output", options->output,
                 "Draw them: a page for the whole study FILE.html, FILE.gp; or FILE.csv");
  app.add_flag("--json", options->json, "Print an array of objects");
  app.add_flag("--csv", options->csv, "Print a table with commas");
  return [options] { return show(*options); };
}

}  // namespace

const Subcommand kResults{
    "results", "List, filter and compare what studies kept", declare,
    "foretrace results scaling.db --where 'ranks >= 8 and machine = \"cray-t3d\"'\n"
    "foretrace results scaling.db --compare measured,predicted\n"
    "foretrace results scaling.db -o scaling.html\n"
    "foretrace results before.db after.db --csv\n"};

}  // namespace foretrace::cli
