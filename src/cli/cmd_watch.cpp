#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cli/launch.hpp"
#include "cli/subcommand.hpp"
#include "cli/summary.hpp"
#include "cli/watcher.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  CaptureRun run;
  double every = 2;
  bool browser = true;
};

int watch(Options& options) {
  CaptureRun& run = options.run;
  run.subcommand = "watch";
  check_capture_run(run);
  if (run.ranks == 0)
    throw UsageError(
        "watch: give -n RANKS; under mpirun or srun use foretrace record --clock wall");
  // The ranks record; the watching is done from here.
  run.subcommand = "record";
  run.own_options = {"--clock", "wall"};
  const Watcher watcher(run.output, options.every, options.browser);
  return finish_run(run, launch(run), false);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_capture_options(app, options->run);
  app.add_option("--every", options->every, "Seconds between the lines in the terminal")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_flag("!--no-browser", options->browser, "Say lines in the terminal only");
  return [options] { return watch(*options); };
}

}  // namespace

const Subcommand kWatch{"watch", "Run an MPI program and show what its ranks do meanwhile", declare,
                        "foretrace watch -n 8 -- ./app\n"
                        "foretrace watch -n 8 -o run.ftr --no-browser -- ./app\n"};

}  // namespace foretrace::cli
