#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/machines/notes.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/moved_in_calls.hpp"
#include "cli/programs/summary.hpp"
#include "cli/simulate/options.hpp"
#include "cli/subcommand.hpp"
#include "cli/words/option_values.hpp"
#include "compute/rules.hpp"
#include "compute/slower.hpp"
#include "compute/work_counter.hpp"
#include "machine/measurement.hpp"
#include "machine/path.hpp"
#include "machine/state.hpp"
#include "topology/placement.hpp"

namespace foretrace::cli {
namespace predict_command {
namespace {

struct Options {
  CaptureRun run;
  std::string machine;
  std::string bound = "avg";
  std::string compute = "measured";
  std::string scale_from;
  std::string slower;
  std::string placement;
  int ranks_per_node = 0;
  std::string wtime = "virtual";
  std::string waits = "measured";
  std::string start = "on";
  std::string progress;
  bool in_other_state = false;
  int sample = 0;
};

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

// What every rank would refuse is refused before the first one starts.
void check_computation(const compute::Spec& spec, const Options& options) {
  const machine::ComputeCosts costs = machine::read_compute_costs(options.machine);
  if (spec.kind == compute::Kind::counted) compute::cost_of(spec.counter, costs);
  if (spec.counter == compute::Counter::instructions) compute::check_instructions();
  if (options.run.ranks > 0)
    compute::read_rules(spec, options.scale_from, costs, options.run.ranks, {});
}

// Likewise. On which nodes the ranks are, only they know.
void check_slower(const Options& options) {
  std::vector<compute::Slower> slower = compute::parse_slower(options.slower);
  std::erase_if(slower, &compute::Slower::are_nodes);
  if (options.run.ranks > 0) compute::slower_by_rank(slower, {}, options.run.ranks);
}

// Likewise.
void check_placement(const Options& options) {
  if (options.run.ranks == 0 || (options.placement.empty() && options.ranks_per_node == 0)) return;
  machine::make_placement(options.placement.empty() ? "block" : options.placement,
                          options.ranks_per_node, options.run.ranks);
}

// What says where ranks stand, where somebody said it: in the environment, on the command line.
void pass_placement(const Options& options, CaptureRun& run) {
  if (!options.placement.empty()) {
    std::error_code ignored;
    const bool is_file = std::filesystem::exists(options.placement, ignored);
    const std::string placement = is_file ? absolute(options.placement) : options.placement;
    run.environment.emplace_back("FORETRACE_PLACEMENT", placement);
    run.own_options.insert(run.own_options.end(), {"--placement", placement});
  }
  if (options.ranks_per_node > 0) {
    const std::string count = std::to_string(options.ranks_per_node);
    run.environment.emplace_back("FORETRACE_RANKS_PER_NODE", count);
    run.own_options.insert(run.own_options.end(), {"--ranks-per-node", count});
  }
}

int predict(Options& options) {
  compute::Spec spec = compute::parse_spec(options.compute, "--compute");
  spec.file = absolute(spec.file);
  CaptureRun& run = options.run;
  run.subcommand = "predict";
  run.environment = {{"FORETRACE_MACHINE", absolute(options.machine)},
                     {"FORETRACE_BOUND", options.bound},
                     {"FORETRACE_COMPUTE", compute::format_spec(spec)},
                     {"FORETRACE_SCALE_FROM", absolute(options.scale_from)},
                     {"FORETRACE_WTIME", options.wtime},
                     {"FORETRACE_WAITS", options.waits},
                     {"FORETRACE_START", options.start}};
  if (options.sample > 0)
    run.environment.emplace_back("FORETRACE_SAMPLE", std::to_string(options.sample));
  run.own_options = {"--machine", options.machine, "--bound", options.bound,
                     "--compute", options.compute, "--wtime", options.wtime,
                     "--waits",   options.waits,   "--start", options.start};
  if (options.in_other_state) {
    run.environment.emplace_back("FORETRACE_STATE", "other");
    run.own_options.emplace_back("--other-state");
  }
  if (!options.slower.empty()) {
    run.environment.emplace_back("FORETRACE_SLOWER", options.slower);
    run.own_options.insert(run.own_options.end(), {"--slower", options.slower});
  }
  if (!options.scale_from.empty())
    run.own_options.insert(run.own_options.end(), {"--scale-from", options.scale_from});
  if (options.sample > 0)
    run.own_options.insert(run.own_options.end(), {"--sample", std::to_string(options.sample)});
  pass_placement(options, run);
  if (run.allow_invalid) run.own_options.emplace_back(machine::kAllowInvalid);
  check_capture_run(run);
  run.returns = run.ranks == 0 && is_users_first_rank();
  const machine::MachineModel model =
      machine::read_machine_in_state(options.machine, options.in_other_state);
  // This command is there in every rank, and before them with -n: said once is enough.
  constexpr const char* kSaid = "FORETRACE_MEASUREMENT_SAID";
  run.notes = notes_of_machine(options.machine, model);
  if (std::string note = note_of_bound(options.machine, model, options.bound); !note.empty())
    run.notes.push_back(std::move(note));
  if (std::getenv(kSaid) == nullptr && (run.ranks > 0 || is_first_rank()))
    for (const std::string& note : run.notes) std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (run.ranks > 0) ::setenv(kSaid, "1", 1);
  check_computation(spec, options);
  check_placement(options);
  check_slower(options);
  if (run.ranks > 0) warn_of_samples(options.sample);
  // A program that does not count what it was asked to ran without us.
  const LaunchResult result = launch(run);
  if (result.traced && options.progress != "always" && machine::attended_from(model))
    move_in_calls(run.output, options.machine, options.bound, options.in_other_state);
  return finish_run(run, result, spec.kind == compute::Kind::counted, &model);
}

void check(const Options& options) {
  const compute::Spec spec = compute::parse_spec(options.compute, "--compute");
  machine::read_machine_in_state(options.machine, options.in_other_state);
  check_computation(spec, options);
  check_placement(options);
  check_slower(options);
}

std::shared_ptr<Options> declare_options(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_capture_options(app, options->run);
  app.add_option("--machine", options->machine,
                 std::string("The machine model to predict for") + kMachineHelp)
      ->transform(machine_name())
      ->required();
  app.add_option("--bound", options->bound,
                 "Which end of the model's error interval: min, avg, max")
      ->check(CLI::IsMember({"min", "avg", "max"}))
      ->capture_default_str();
  options->run.is_compute_given = false;
  app.add_option("--compute", options->compute,
                 "Time between calls: none, annotated[:STEP] (FORETRACE_COMPUTE), "
                 "counted[:blocks|instructions], measured[:SCALE], table:FILE, replayed:RUN.ftr")
      ->check(offers(kComputeWords))
      ->each([options](const std::string&) { options->run.is_compute_given = true; })
      ->capture_default_str();
  add_slower(app, options->slower);
  app.add_option("--scale-from", options->scale_from,
                 "The model of this machine: measured times are scaled by its kernels and those of "
                 "--machine")
      ->transform(machine_name());
  add_wtime_option(app, options->wtime,
                   "What MPI_Wtime and the computer's clocks show the program: virtual or real "
                   "time");
  add_waits_option(app, options->waits);
  add_placement_options(app, options->placement, options->ranks_per_node, false);
  add_progress_option(app, options->progress);
  add_allow_invalid(app, options->run.allow_invalid);
  add_other_state(app, options->in_other_state);
  add_start_option(app, options->start);
  add_sample_option(app, options->sample);
  add_watcher_options(app, options->run.watch);
  return options;
}

std::function<int()> declare(CLI::App& app) {
  return [options = declare_options(app)] { return predict(*options); };
}

std::function<void()> declare_to_check(CLI::App& app) {
  return [options = declare_options(app)] { check(*options); };
}

}  // namespace
}  // namespace predict_command

const Subcommand kPredict{
    "predict", "Run an MPI program here in the virtual time of another machine",
    predict_command::declare,
    "foretrace predict -n 8 --machine cray-t3d -o p.ftr -- ./app\n"
    "foretrace predict -n 8 --machine cray-t3d --compute annotated -- ./app\n",
    predict_command::declare_to_check};

}  // namespace foretrace::cli
