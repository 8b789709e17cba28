#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "cli/machines/notes.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/words/option_values.hpp"
#include "formulas/sweep.hpp"
#include "machine/machine_file.hpp"
#include "views/model/report.hpp"

namespace foretrace::cli {
namespace model_command {
namespace {

struct Options {
  std::string model;
  std::string machine;
  std::vector<std::string> at;
  std::vector<std::string> sweeps;
  std::string output;
  bool json = false;
  bool csv = false;
};

void write(const views::ModelReport& report, const std::string& output) {
  const std::string ending = ending_of(output, "model", {".html", ".svg", ".gp", ".csv"});
  write_output(output, ending == ".html"  ? views::render_html_model(report)
                       : ending == ".svg" ? views::render_svg_model(report)
                       : ending == ".csv"
                           ? views::render_csv_model(report)
                           : views::render_gnuplot_model(
                                 report, std::filesystem::path(output).stem().string()));
}

// Where the model is evaluated: each name has one value, or several.
struct Where {
  formulas::Values at;
  std::vector<formulas::SweepAxis> axes;
};

Where where_of(const Options& options) {
  Where where;
  for (const auto& [name, value] : formulas::parse_at(options.at)) where.at.emplace(name, value);
  for (const std::string& text : options.sweeps) {
    where.axes.push_back(formulas::parse_axis(text));
    const std::string& name = where.axes.back().name;
    if (where.at.contains(name))
      throw UsageError("model: '" + name + "' is in --at and in --sweep");
    for (std::size_t i = 0; i + 1 < where.axes.size(); ++i)
      if (where.axes[i].name == name) throw UsageError("--sweep: '" + name + "' is given twice");
  }
  return where;
}

void check(const Options& options) {
  if (options.json && options.csv) throw UsageError("model: --json and --csv: choose one");
  where_of(options);
  formulas::read_model_file(options.model);
  if (!options.machine.empty()) machine::read_machine_file(options.machine);
}

int model(const Options& options) {
  if (options.json && options.csv) throw UsageError("model: --json and --csv: choose one");
  const Where where = where_of(options);
  const formulas::ModelFile file = formulas::read_model_file(options.model);
  std::optional<machine::MachineModel> machine;
  if (!options.machine.empty()) {
    machine = machine::read_machine_file(options.machine);
    warn_of_machine(options.machine, *machine);
  }
  const std::string name = std::filesystem::path(options.model).filename().string();
  const views::ModelReport report{
      name, machine ? machine->name : "", where.at,
      formulas::sweep(file, machine ? &*machine : nullptr, where.at, where.axes)};
  if (!options.output.empty()) write(report, options.output);
  if (options.json)
    std::fputs(views::render_json_model(report).c_str(), stdout);
  else if (options.csv)
    std::fputs(views::render_csv_model(report).c_str(), stdout);
  else if (options.output.empty())
    std::fputs(views::render_text_model(report).c_str(), stdout);
  return 0;
}

std::shared_ptr<Options> declare_options(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option(
         "model", options->model,
         "The model: a file in gnuplot's syntax, or the name of one that comes with Foretrace")
      ->transform(model_name())
      ->required();
  app.add_option("--machine", options->machine,
                 std::string("The machine whose functions T_NAME are") + kMachineHelp)
      ->transform(machine_name());
  app.add_option("--at", options->at, "Values of parameters: p=8,n=1000")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--sweep", options->sweeps,
                 "A parameter with several values: p=1..64, p=1:64, c=0.1us,1us; may be repeated")
      ->allow_extra_args(false);
  app.add_option("-o,--output", options->output,
                 "Draw the sweep: FILE.html, FILE.svg, FILE.gp; or FILE.csv");
  app.add_flag("--json", options->json, "Print one JSON object; an array for a sweep");
  app.add_flag("--csv", options->csv, "Print a table with commas");
  return options;
}

std::function<int()> declare(CLI::App& app) {
  return [options = declare_options(app)] { return model(*options); };
}

std::function<void()> declare_to_check(CLI::App& app) {
  return [options = declare_options(app)] { check(*options); };
}

}  // namespace
}  // namespace model_command

const Subcommand kModel{"model", "Evaluate an analytical model of a program on a machine",
                        model_command::declare,
                        "foretrace model models/life.model --machine cray-t3d --at p=8,d=128\n"
                        "foretrace model models/life.model --machine cray-t3d --at d=128 --sweep "
                        "p=1..64 -o life.html\n",
                        model_command::declare_to_check};

}  // namespace foretrace::cli
