#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/words/named_files.hpp"
#include "formulas/sweep.hpp"
#include "machine/machine_file.hpp"
#include "results/query.hpp"
#include "scaling/json_lines.hpp"
#include "scaling/program_law.hpp"
#include "views/scaling/program.hpp"
#include "views/scaling/report.hpp"

namespace foretrace::cli {
namespace fit_command {
namespace {

constexpr double kMostRanks = 1e9;
constexpr std::size_t kMostCalls = 15;    // in the table
constexpr std::size_t kMostPrograms = 5;  // named in a note

struct Options {
  std::vector<std::string> files;
  std::string machine;
  std::string metric;
  std::vector<std::string> at;
  std::string where;
  bool json = false;

  const std::string& file() const { return files.front(); }
  std::string quantity() const { return metric.empty() ? "time" : metric; }
};

struct Question {
  std::vector<std::string> names;
  std::vector<double> at;
};

// By what else differs: program, way, call path, ...
struct Points {
  std::map<std::vector<double>, std::vector<double>> values;
  results::Table rows;  // of a database: where they come from
};
using Groups = std::map<std::vector<std::pair<std::string, std::string>>, Points>;

Question question_of(const std::vector<std::string>& words) {
  Question out;
  for (const auto& [name, value] : formulas::parse_at(words)) {
    out.names.push_back(name);
    out.at.push_back(value);
  }
  return out;
}

// What results::read_table() reads.
bool is_database(const std::string& path) {
  if (path.ends_with(".graph")) return true;
  std::ifstream file(path, std::ios::binary);
  std::string begins(15, '\0');
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  return begins == "SQLite format 3";
}

Groups of_json_lines(const Options& options, const Question& question) {
  Groups out;
  std::string metrics;
  for (const scaling::Measurement& each : scaling::read_json_lines(options.file())) {
    if (!each.metric.empty() && each.metric != options.quantity()) {
      if (metrics.find(each.metric) == std::string::npos) metrics += " " + each.metric;
      continue;
    }
    std::vector<std::pair<std::string, std::string>> key;
    if (!each.callpath.empty()) key.emplace_back("callpath", each.callpath);
    std::vector<double> x(question.names.size());
    for (const auto& [name, value] : each.parameters) {
      const auto place = std::ranges::find(question.names, name);
      if (place == question.names.end())
        key.emplace_back(name, results::text_of(value));
      else
        x[static_cast<std::size_t>(place - question.names.begin())] = value;
    }
    for (const std::string& name : question.names)
      if (!each.parameters.contains(name))
        throw UsageError("fit: " + options.file() + " has measurements without the parameter '" +
                         name + "'");
    std::vector<double>& values = out[key].values[x];
    values.insert(values.end(), each.values.begin(), each.values.end());
  }
  if (out.empty())
    throw UsageError("fit: no measurement is of the metric '" + options.quantity() + "'; there is" +
                     metrics);
  return out;
}

// A column that says the same as one that is asked for ("ranks" beside p) is no group of its own.
bool is_asked_for(const std::string& name, const results::Cell& cell, const Question& question,
                  const std::vector<double>& x) {
  if (name != "ranks") return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (results::text_of(cell) == results::text_of(results::Cell(x[i])) ||
        question.names[i] == name)
      return true;
  return results::text_of(cell) == "0";
}

Groups of_database(const Options& options, const Question& question) {
  const std::string done = "status = 'done' AND kind != 'record'";
  const results::Table table = results::read_table(
      options.file(), {options.where.empty() ? done : done + " AND (\n" + options.where + "\n)",
                       true,
                       {options.quantity()}});
  if (table.rows.empty()) throw UsageError("fit: no launch is left where that holds");
  std::vector<std::size_t> places;
  for (const std::string& name : question.names) places.push_back(table.find(name));
  const std::size_t metric = table.find(options.quantity());
  Groups out;
  for (const auto& row : table.rows) {
    std::vector<double> x;
    for (const std::size_t place : places)
      if (const auto value = results::number_of(row[place])) x.push_back(*value);
    const auto value = results::number_of(row[metric]);
    if (x.size() != places.size() || !value) continue;
    std::vector<std::pair<std::string, std::string>> key;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const results::Column& column = table.columns[i];
      const bool is_key = column.kind == results::ColumnKind::fixed ||
                          column.kind == results::ColumnKind::parameter;
      if (is_key && std::ranges::find(places, i) == places.end() &&
          !is_asked_for(column.name, row[i], question, x))
        key.emplace_back(column.name, results::text_of(row[i]));
    }
    Points& points = out[key];
    points.values[x].push_back(*value);
    points.rows.columns = table.columns;
    points.rows.rows.push_back(row);
  }
  if (out.empty())
    throw UsageError("fit: no launch has a number for '" + options.quantity() +
                     "' and all of --at");
  return out;
}

std::string name_of(const std::vector<std::pair<std::string, std::string>>& key) {
  std::string out;
  for (const auto& [name, value] : key) out += (out.empty() ? "" : ", ") + name + " " + value;
  return out;
}

// "; they differ in p as well: ask for that (--at), or choose by --where", of groups that do.
std::string advice_of(const Groups& groups) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& [key, points] : groups)
    for (const auto& [name, value] : key) values[name].insert(value);
  std::string names;
  for (const auto& [name, different] : values)
    if (different.size() > 1) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? ""
                       : "; the runs differ in " + names +
                             " as well: ask for that (--at), or choose by --where";
}

int fit_points(const Options& options, const Question& question) {
  const bool database = is_database(options.file());
  if (!database && !options.where.empty())
    throw UsageError("fit: --where is for results of studies");
  const Groups groups =
      database ? of_database(options, question) : of_json_lines(options, question);
  std::vector<views::LawReport> reports;
  std::vector<std::string> refused;
  for (const auto& [key, points] : groups) {
    std::vector<scaling::Observation> observations;
    for (const auto& [x, values] : points.values) observations.push_back({x, values});
    try {
      reports.push_back({key, options.quantity(), question.at,
                         scaling::fit_scaling(observations, question.names, question.at),
                         points.rows.notes()});
    } catch (const Error& error) {
      const std::string of = name_of(key);
      if (groups.size() == 1) throw Error(options.file() + ": " + error.what());
      refused.push_back(of + ": " + error.what());
    }
  }
  if (reports.empty())
    throw Error(options.file() + ": nothing could be fitted, as in " + refused.front() +
                advice_of(groups));
  for (const std::string& line : refused) std::fprintf(stderr, "foretrace: %s\n", line.c_str());
  // What will take longest there comes first.
  std::ranges::stable_sort(reports, std::greater(),
                           [](const views::LawReport& report) { return report.law.best.value; });
  std::fputs(
      (options.json ? views::render_json_laws(reports) : views::render_text_laws(reports)).c_str(),
      stdout);
  return 0;
}

bool is_trace(const std::string& path) {
  return path.ends_with(".ftr");
}

// What was said when the runs were predicted, each once.
std::vector<std::string> notes_of(const std::vector<analysis::Profile>& runs) {
  std::vector<std::pair<std::string, std::size_t>> found;
  for (const analysis::Profile& run : runs)
    for (const std::string& note : run.info.notes) {
      const auto known =
          std::ranges::find(found, note, &std::pair<std::string, std::size_t>::first);
      if (known == found.end())
        found.emplace_back(note, 1);
      else
        ++known->second;
    }
  std::vector<std::string> notes;
  for (const auto& [note, times] : found)
    notes.push_back((times == runs.size() ? "all runs: "
                                          : std::to_string(times) + " of " +
                                                std::to_string(runs.size()) + " runs: ") +
                    note);
  return notes;
}

// A law of runs of several programs is none; but a problem that grows with the ranks has other
// arguments, so that only the reader can say. Nothing where all runs are of one.
std::optional<std::string> different_programs(const std::vector<analysis::Profile>& runs) {
  std::vector<std::pair<std::string, std::size_t>> programs;
  for (const analysis::Profile& run : runs) {
    const auto known =
        std::ranges::find(programs, run.info.program, &std::pair<std::string, std::size_t>::first);
    if (known == programs.end())
      programs.emplace_back(run.info.program, 1);
    else
      ++known->second;
  }
  if (programs.size() < 2) return std::nullopt;
  std::string note = "the runs are not of one program:";
  for (std::size_t i = 0; i < std::min(programs.size(), kMostPrograms); ++i)
    note += fmt::format("{} {} ({} run{})", i > 0 ? "," : "", programs[i].first, programs[i].second,
                        programs[i].second == 1 ? "" : "s");
  if (programs.size() > kMostPrograms)
    note += fmt::format(", and {} more", programs.size() - kMostPrograms);
  return note;
}

// Runs of one program on several numbers of ranks, call by call.
int fit_runs(const Options& options, const Question& question) {
  if (!options.metric.empty() || !options.where.empty())
    throw UsageError("fit: --metric and --where are not for traces; all their calls are fitted");
  if (question.names.size() != 1 || (question.names[0] != "p" && question.names[0] != "ranks"))
    throw UsageError("fit: of traces, --at tells the number of ranks: --at p=1024");
  const double at = question.at.front();
  if (at < 1 || at != std::floor(at) || at > kMostRanks)
    throw UsageError("fit: --at p must be a whole number from 1 to 10^9");
  std::vector<analysis::Profile> runs;
  const trace::TellPlace tell = place_teller();
  for (const std::string& path : options.files) {
    runs.push_back(analysis::profile_file(path, tell));
    if (!runs.back().damage.empty() || !runs.back().complete)
      throw Error(path + ": the run is not whole; foretrace report " + path + " says more");
    if (runs.back().info.clock == trace::Clock::cpu)
      throw Error(path + ": a recording has no times of its calls; foretrace simulate " + path +
                  " -o FILE.ftr makes a run that has");
  }
  views::ProgramLawReport report;
  report.program = runs.back().info.program;
  std::optional<machine::MachineModel> model;
  if (!options.machine.empty()) {
    model = machine::read_machine_file(find_named(Named::machine, options.machine));
    report.machine = model->name;
    const std::string& ran_on = runs.front().info.machine;
    if (!ran_on.empty() && ran_on != model->name)
      throw UsageError("fit: the runs are of the machine '" + ran_on + "', --machine is '" +
                       model->name + "'");
  }
  std::vector<std::string> notes = notes_of(runs);
  if (auto note = different_programs(runs)) notes.insert(notes.begin(), std::move(*note));
  report.law =
      scaling::fit_program(std::move(runs), model ? &*model : nullptr, static_cast<int>(at));
  report.law.notes.insert(report.law.notes.begin(), notes.begin(), notes.end());
  std::fputs((options.json ? views::render_json_program_law(report)
                           : views::render_text_program_law(report, kMostCalls))
                 .c_str(),
             stdout);
  return 0;
}

int fit(const Options& options) {
  const Question question = question_of(options.at);
  const bool of_runs = std::ranges::any_of(options.files, is_trace);
  if (of_runs) return fit_runs(options, question);
  if (options.files.size() > 1) throw UsageError("fit: several files are for traces of runs");
  if (!options.machine.empty())
    throw UsageError("fit: --machine is for traces, whose calls it prices");
  return fit_points(options, question);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("file", options->files,
                 "Results of a study, FILE.graph, measurements as Extra-P's JSON Lines; or traces "
                 "(.ftr) of runs on several numbers of ranks")
      ->required();
  app.add_option("--metric", options->metric, "What to fit: a quantity, a metric (time)");
  app.add_option("--machine", options->machine,
                 "Of traces: the machine model that they were computed with; its functions are "
                 "evaluated there");
  app.add_option("--at", options->at, "Where to extrapolate to: p=1024 or p=1024,n=4096")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  app.add_option("--where", options->where, "Only launches for which that holds, in SQL")
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "Print one JSON object; an array for several laws");
  return [options] { return fit(*options); };
}

}  // namespace
}  // namespace fit_command

const Subcommand kFit{"fit", "Extrapolate how a time scales, and say how far to trust that",
                      fit_command::declare,
                      "foretrace fit scaling.db --metric time --at p=1024\n"
                      "foretrace fit scaling.db --metric phase_exchange --at p=1024,n=4096 --json\n"
                      "foretrace fit extra-p.jsonl --metric time --at p=1024\n"};

}  // namespace foretrace::cli
