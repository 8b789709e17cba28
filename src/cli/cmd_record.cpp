#include <memory>

#include "cli/launch.hpp"
#include "cli/subcommand.hpp"
#include "cli/summary.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  CaptureRun run;
  std::string clock = "cpu";
  std::string start = "on";
};

int record(Options& options) {
  CaptureRun& run = options.run;
  run.subcommand = "record";
  run.environment = {{"FORETRACE_CLOCK", options.clock}, {"FORETRACE_START", options.start}};
  run.own_options = {"--clock", options.clock, "--start", options.start};
  check_capture_run(run);
  const LaunchResult result = launch(run);
  if (result.traced) print_run_summary(run.output);
  return result.status;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_capture_options(app, options->run, "foretrace.ftr");
  app.add_option("--clock", options->clock,
                 "What the recorded times are: cpu (CPU time, the same on a busy machine) or wall")
      ->check(CLI::IsMember({"cpu", "wall"}))
      ->capture_default_str();
  add_start_option(app, options->start);
  return [options] { return record(*options); };
}

}  // namespace

const Subcommand kRecord{"record", "Run an MPI program once and log its calls and CPU times",
                         declare};

}  // namespace foretrace::cli
