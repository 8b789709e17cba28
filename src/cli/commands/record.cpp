#include <memory>

#include "cli/programs/launch.hpp"
#include "cli/programs/summary.hpp"
#include "cli/subcommand.hpp"
#include "compute/work_counter.hpp"

namespace foretrace::cli {
namespace record_command {
namespace {

struct Options {
  CaptureRun run;
  std::string clock = "cpu";
  std::string start = "on";
  int sample = 0;
  std::string waits = "measured";
  std::string count;
};

void check(const Options& options) {
  if (compute::parse_counter(options.count) == compute::Counter::instructions)
    compute::check_instructions();
}

int record(Options& options) {
  CaptureRun& run = options.run;
  run.subcommand = "record";
  run.environment = {{"FORETRACE_CLOCK", options.clock},
                     {"FORETRACE_COUNT", options.count},
                     {"FORETRACE_WAITS", options.waits},
                     {"FORETRACE_START", options.start}};
  if (options.sample > 0)
    run.environment.emplace_back("FORETRACE_SAMPLE", std::to_string(options.sample));
  run.own_options = {"--clock", options.clock, "--waits", options.waits, "--start", options.start};
  if (!options.count.empty())
    run.own_options.insert(run.own_options.end(), {"--count", options.count});
  if (options.sample > 0)
    run.own_options.insert(run.own_options.end(), {"--sample", std::to_string(options.sample)});
  check_capture_run(run);
  check(options);
  if (run.ranks > 0) warn_of_samples(options.sample);
  // A program that does not count what it was asked to ran without us.
  return finish_run(run, launch(run), !options.count.empty());
}

std::shared_ptr<Options> declare_options(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_capture_options(app, options->run);
  app.add_option("--clock", options->clock,
                 "What the recorded times are: cpu (CPU time, the same on a busy machine) or wall")
      ->check(CLI::IsMember({"cpu", "wall"}))
      ->capture_default_str();
  add_start_option(app, options->start, true);
  add_sample_option(app, options->sample);
  add_waits_option(app, options->waits);
  add_watcher_options(app, options->run.watch);
  app.add_option("--count", options->count,
                 "Log what the program executes, for simulate --compute counted: blocks or "
                 "instructions")
      ->check(CLI::IsMember({"blocks", "instructions"}));
  return options;
}

std::function<int()> declare(CLI::App& app) {
  return [options = declare_options(app)] { return record(*options); };
}

std::function<void()> declare_to_check(CLI::App& app) {
  return [options = declare_options(app)] { check(*options); };
}

}  // namespace
}  // namespace record_command

const Subcommand kRecord{"record", "Run an MPI program once and log its calls and CPU times",
                         record_command::declare,
                         "foretrace record -n 8 -o run.ftr -- ./app\n"
                         "srun -n 64 foretrace record -o run.ftr -- ./app\n",
                         record_command::declare_to_check};

}  // namespace foretrace::cli
