#include <filesystem>
#include <memory>

#include "cli/launch.hpp"
#include "cli/subcommand.hpp"
#include "cli/summary.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  CaptureRun run;
  std::string machine;
  std::string bound = "avg";
  std::string compute = "measured";
  std::string wtime = "virtual";
  std::string start = "on";
};

int predict(Options& options) {
  CaptureRun& run = options.run;
  run.subcommand = "predict";
  run.environment = {{"FORETRACE_MACHINE", std::filesystem::absolute(options.machine).string()},
                     {"FORETRACE_BOUND", options.bound},
                     {"FORETRACE_COMPUTE", options.compute},
                     {"FORETRACE_WTIME", options.wtime},
                     {"FORETRACE_START", options.start}};
  run.own_options = {"--machine",     options.machine, "--bound",     options.bound, "--compute",
                     options.compute, "--wtime",       options.wtime, "--start",     options.start};
  check_capture_run(run);
  check_compute_option(options.compute, "measured");
  machine::read_machine_file(options.machine);
  const LaunchResult result = launch(run);
  if (result.traced) print_run_summary(run.output);
  return result.status;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_capture_options(app, options->run, "foretrace.ftr");
  app.add_option("--machine", options->machine, "The machine model to predict for (TOML)")
      ->required();
  app.add_option("--bound", options->bound,
                 "Which end of the model's error interval: min, avg, max")
      ->check(CLI::IsMember({"min", "avg", "max"}))
      ->capture_default_str();
  app.add_option("--compute", options->compute,
                 "Time between calls: none, annotated (FORETRACE_COMPUTE), measured[:SCALE]")
      ->capture_default_str();
  app.add_option("--wtime", options->wtime,
                 "What MPI_Wtime tells the program: virtual or real time")
      ->check(CLI::IsMember({"virtual", "real"}))
      ->capture_default_str();
  add_start_option(app, options->start);
  return [options] { return predict(*options); };
}

}  // namespace

const Subcommand kPredict{
    "predict", "Run an MPI program here in the virtual time of another machine", declare};

}  // namespace foretrace::cli
