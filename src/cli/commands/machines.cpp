#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/simulate/machine_ranking.hpp"
#include "cli/simulate/options.hpp"
#include "cli/subcommand.hpp"
#include "cli/words/named_files.hpp"
#include "cli/words/option_values.hpp"
#include "machine/machine_file.hpp"
#include "views/draw/text_table.hpp"

namespace foretrace::cli {
namespace machines_command {
namespace {

std::string year_of(const std::string& date) {
  const bool starts_with_year =
      date.size() >= 4 &&
      std::ranges::all_of(date.substr(0, 4), [](unsigned char c) { return std::isdigit(c) != 0; });
  return starts_with_year ? date.substr(0, 4) : "-";
}

// What there is of each kind; names of single functions are in --json.
std::string functions_of(const machine::MachineModel& model) {
  std::size_t pair = 0;
  std::string collectives;
  for (const auto& [name, function] : model.functions) {
    if (function.function_class == "point-to-point")
      ++pair;
    else
      collectives += (collectives.empty() ? "" : " ") + name;
  }
  std::string text = pair > 0 ? std::to_string(pair) + " of two ranks" : "";
  if (collectives.empty()) return text;
  constexpr std::size_t kMost = 48;
  if (collectives.size() > kMost)
    collectives = std::to_string(model.functions.size() - pair) + " of all ranks";
  return text + (text.empty() ? "" : ", ") + collectives;
}

void print_text() {
  using enum views::Align;
  views::TextTable table({left, left, right, left, left, left, left});
  table.add({"name", "machine", "ranks", "year", "kind", "functions", "source"});
  for (const NamedFile& file : named_files(Named::machine)) {
    const machine::MachineModel model = machine::read_machine_file(file.path);
    table.add({file.name, model.name, model.ranks > 0 ? std::to_string(model.ranks) : "-",
               model.date.empty() ? "-" : year_of(model.date),
               model.kind.empty() ? "-" : model.kind, functions_of(model), model.source});
  }
  std::fputs(table.render(0).c_str(), stdout);
}

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NamedFile& file : named_files(Named::machine)) {
    const machine::MachineModel model = machine::read_machine_file(file.path);
    nlohmann::ordered_json functions = nlohmann::ordered_json::array();
    for (const auto& [name, unused] : model.functions) functions.push_back(name);
    all.push_back({{"name", file.name},
                   {"path", file.path},
                   {"machine", model.name},
                   {"ranks", model.ranks},
                   {"date", model.date},
                   {"kind", model.kind},
                   {"source", model.source},
                   {"licence", model.licence},
                   {"functions", functions}});
  }
  std::printf("%s\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

struct Options {
  bool json = false;
  std::string stray;  // a run without --run
  SimulationOptions simulation;
};

int machines(const Options& options) {
  if (!options.stray.empty())
    throw UsageError(options.stray + ": foretrace machines takes no file by itself; to rank the " +
                     "machines by a run: foretrace machines --run " + options.stray);
  const SimulationOptions& simulation = options.simulation;
  if (!simulation.input.empty()) {
    const Ranking ranking = rank_machines(simulation);
    std::fputs((options.json ? ranking_json(ranking) : render_ranking(ranking)).c_str(), stdout);
    return 0;
  }
  const SimulationOptions initial;
  if (simulation.compute != initial.compute || !simulation.network.empty() ||
      !simulation.collectives.empty())
    throw UsageError("--compute, --network and --collectives are for --run RUN.ftr");
  options.json ? print_json() : print_text();
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  SimulationOptions& simulation = options->simulation;
  app.add_flag(
      "--json", options->json,
      "Print JSON: an array with the path and the functions of each; with --run the ranking");
  app.add_option("--run", simulation.input,
                 "Rank the machines by what this recorded run (or text program) takes on them");
  app.add_option("--compute", simulation.compute, "With --run: as for simulate, e.g. recorded:0.5")
      ->check(offers(kReplayWords))
      ->capture_default_str();
  app.add_option("--network", simulation.network,
                 "With --run: as for simulate; if not given, datasheet where that has all that the "
                 "run needs, else loggps")
      ->check(offers(network_words()));
  app.add_option("--collectives", simulation.collectives, "With --run: as for simulate")
      ->check(offers(kCollectivesWords));
  add_allow_invalid(app, simulation.allow_invalid);
  app.add_option("FILE", options->stray)->group("");
  return [options] { return machines(*options); };
}

}  // namespace
}  // namespace machines_command

const Subcommand kMachines{"machines", "List the machine models that come with Foretrace",
                           machines_command::declare,
                           "foretrace machines\n"
                           "foretrace machines --run run.ftr\n"
                           "foretrace machines --json\n"};

}  // namespace foretrace::cli
