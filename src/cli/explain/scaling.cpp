#include "cli/explain/scaling.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "cli/system/output_file.hpp"
#include "explain/summary.hpp"
#include "sim/sink.hpp"
#include "views/explain/scaling.hpp"

namespace foretrace::cli {
namespace {

explain::Scaling parse_scaling(const std::string& text) {
  if (text == "strong") return explain::Scaling::strong;
  if (text == "weak") return explain::Scaling::weak;
  throw UsageError("--scaling " + text +
                   ": expected strong (all runs solve one problem) or weak (each rank has as "
                   "much to do in all of them)");
}

struct Measured {
  explain::ScaledRun run;
  std::string where;
  std::string program;  // without its arguments, which may give the size of the problem
  std::vector<std::string> notes;
  bool sealed = true;
};

// Empty: the input is a text, which has no name but its file's.
std::string program_of(const Simulation& simulation, const std::string& input) {
  const std::string line = simulation.info().program;
  if (line == input) return {};
  return std::filesystem::path(line.substr(0, line.find(' '))).filename().string();
}

// A note where a run is of another program than the first one; empty: it is not.
std::string other_program(const Measured& first, const Measured& other) {
  if (first.program.empty() || other.program.empty() || first.program == other.program) return {};
  return "the programs differ: " + first.run.name + " is of " + first.program + ", " +
         other.run.name + " of " + other.program;
}

Measured measure(const SimulationOptions& options) {
  Simulation simulation(options);
  const auto simulate = [&](const Replay& replay) {
    const std::unique_ptr<sim::Source> source = simulation.open();
    sim::NullSink nothing;
    return simulation.run(*source, nothing, replay);
  };
  const sim::SimulateResult as_is = simulate({});
  Replay ideal;
  ideal.portion = machine::Portion::nothing;
  Replay no_files = ideal;
  no_files.files_take_time = false;
  Measured measured;
  measured.where = simulation.where();
  measured.program = program_of(simulation, options.input);
  measured.notes = simulation.notes();
  measured.notes.insert(measured.notes.end(), as_is.notes.begin(), as_is.notes.end());
  measured.sealed = simulation.sealed();
  explain::ScaledRun& run = measured.run;
  run.name = options.input;
  run.ranks = simulation.ranks();
  run.time = as_is.time;
  Time most;
  for (const sim::RankResult& rank : as_is.ranks) {
    run.compute += rank.compute.seconds();
    most = std::max(most, rank.compute);
  }
  run.efficiency =
      explain::efficiency_from(run.compute / std::max(run.ranks, 1), most,
                               {run.time, simulate(ideal).time, simulate(no_files).time});
  return measured;
}

}  // namespace

int explain_scaling(const std::string& scaling, const std::vector<std::string>& inputs,
                    SimulationOptions options, const ExplainOutput& output) {
  views::ScalingTable table;
  table.scaling = parse_scaling(scaling);
  if (inputs.size() < 2)
    throw UsageError("--scaling compares runs: name two or more, as 4.ftr 16.ftr 64.ftr");
  check_explain_output(output);
  bool sealed = true;
  std::optional<Measured> first;
  for (const std::string& input : inputs) {
    options.input = input;
    Measured measured = measure(options);
    if (!first) first = measured;
    if (const std::string note = other_program(*first, measured); !note.empty())
      measured.notes.push_back(note);
    table.where = measured.where;
    for (const std::string& note : measured.notes)
      if (std::ranges::find(table.notes, note) == table.notes.end()) table.notes.push_back(note);
    sealed = sealed && measured.sealed;
    table.runs.push_back(std::move(measured.run));
  }
  explain::compare_runs(table.runs, table.scaling);
  const auto text_of = [&](const std::string& form) {
    return form == ".html"   ? views::render_html_scaling(table)
           : form == ".json" ? views::render_json_scaling(table)
                             : views::render_text_scaling(table);
  };
  if (output.path.empty())
    std::fputs(text_of(output.json ? ".json" : ".txt").c_str(), stdout);
  else
    write_output(output.path, text_of(ending_of(output.path, "explain", kExplainEndings)));
  return sealed ? 0 : 1;
}

}  // namespace foretrace::cli
