
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "cli/pages/watch_output.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/live_run.hpp"
#include "cli/programs/summary.hpp"
#include "cli/simulate/baseline.hpp"
#include "cli/simulate/options.hpp"
#include "cli/simulate/progress.hpp"
#include "cli/simulate/run.hpp"
#include "cli/simulate/simulation.hpp"
#include "cli/simulate/sweep.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_claim.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/option_values.hpp"
#include "sim/sink.hpp"
#include "views/report/sweep_report.hpp"

namespace foretrace::cli {
namespace simulate_command {
namespace {

struct Options {
  SimulationOptions simulation;
  std::vector<std::string> input;  // a file; live: the program and its arguments
  std::optional<std::string> mpi;  // live
  std::string start;               // live: --start
  std::string wtime;               // live: --wtime
  std::string waits;               // live: --waits
  std::vector<std::string> sweeps;
  int jobs = 0;
  std::string baseline;
  int samples = 0;
  std::uint64_t seed = 1;
  bool csv = false;
  RunOptions run;
  WatchOptions watch;        // a page of the machine at work
  WatcherOptions meanwhile;  // live, --watch without a page: what the ranks do
};

void tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "foretrace: %s\n", note.c_str());
}

// What is to be said of a run is the same at every point.
struct Told {
  std::once_flag once;
  std::vector<std::string> notes;
};

PointResult run_point(const Simulation& simulation, const SweepPoint& point, Told& told) {
  const std::unique_ptr<sim::Source> source = simulation.open_shared();
  sim::NullSink sink;
  const sim::SimulateResult result = simulation.run(*source, sink, factors_of(point));
  std::call_once(told.once, [&] {
    told.notes = result.notes;
    tell(told.notes);
  });
  PointResult summary;
  summary.time = result.time;
  summary.ranks = simulation.ranks();
  for (const sim::RankResult& rank : result.ranks) {
    summary.serial_time += rank.compute;
    summary.wait += rank.wait;
  }
  return summary;
}

// Figures of a part of a run are no success.
int status_of(const Simulation& simulation) {
  return simulation.sealed() ? 0 : 1;
}

// Further recordings of the program, for --samples.
class Recordings {
 public:
  Recordings(Simulation& first, const Options& options) : all_{&first} {
    for (std::size_t i = 1; i < options.input.size(); ++i) {
      SimulationOptions others = options.simulation;
      others.input = options.input[i];
      own_.push_back(std::make_unique<Simulation>(others));
      Simulation& one = *own_.back();
      if (one.ranks() != first.ranks())
        throw Error(others.input + ": has " + std::to_string(one.ranks()) + " ranks, " +
                    options.input.front() + " has " + std::to_string(first.ranks()) +
                    "; give recordings of one program, run alike");
      if (!one.sealed()) tell(one.notes());
      all_.push_back(&one);
    }
  }
  std::span<Simulation* const> all() const { return all_; }
  int status() const {
    return std::ranges::all_of(all_, [](const Simulation* one) { return one->sealed(); }) ? 0 : 1;
  }

 private:
  std::vector<std::unique_ptr<Simulation>> own_;
  std::vector<Simulation*> all_;
};

int sweep(Simulation& simulation, const Options& options) {
  const std::vector<Sweep> sweeps = parse_sweeps(options.sweeps);
  check_sweeps(sweeps, {simulation.equations_alone(), simulation.computes()});
  simulation.prepare_sharing();
  SweepRunner runner;
  Told told;
  runner.run = [&](const SweepPoint& point) { return run_point(simulation, point, told); };
  runner.jobs = options.jobs;
  runner.progress = count_progress("simulations");
  views::SweepReport report = run_sweep(sweeps, runner);
  report.notes = told.notes;
  if (!options.run.json && !options.csv)
    std::printf("%d ranks%s\n", simulation.ranks(), simulation.where().c_str());
  const std::string text = options.run.json ? views::render_json_sweep(report)
                           : options.csv    ? views::render_csv_sweep(report)
                                            : views::render_text_sweep(report);
  std::fputs(text.c_str(), stdout);
  return status_of(simulation);
}

// Options of one run that a sweep has no place for, and the reverse.
void check_options(const Options& options) {
  const bool sweeps = !options.sweeps.empty();
  const auto refuse = [](bool given, const char* what) {
    if (given) throw UsageError(what);
  };
  const bool live = options.simulation.live_ranks > 0;
  refuse(!live && options.input.size() > 1 && options.samples == 0,
         "one file at a time; several recordings of one program go with --samples, and to run a "
         "program live, say -n RANKS");
  refuse(live && sweeps,
         "--sweep is for recorded runs; record the program, or run it several times");
  refuse(!live && options.simulation.sample > 0,
         "--sample is for programs that run live; say -n RANKS");
  refuse(!live && options.simulation.spawn > 0,
         "--spawn is for programs that run live; say -n RANKS");
  refuse(!live && !options.start.empty(), "--start is for programs that run live; say -n RANKS");
  refuse(!live && !options.wtime.empty(), "--wtime is for programs that run live; say -n RANKS");
  refuse(!live && !options.waits.empty(), "--waits is for programs that run live; say -n RANKS");
  refuse(live && options.simulation.wildcards != SimulationOptions().wildcards,
         "--wildcards is for recorded runs; in one that runs live MPI_ANY_SOURCE takes the message "
         "that is there first in virtual time");
  refuse(!live && options.mpi, "--mpi is for programs that run live; say -n RANKS");
  refuse(sweeps && !options.run.output.empty(),
         "--sweep writes no trace; leave out -o, or simulate one point without --sweep");
  refuse(sweeps && (options.run.links || options.run.stats),
         "--sweep prints a table; leave out --links and --stats, or simulate one point");
  refuse(options.samples > 0 && (live || sweeps),
         "--samples draws for one recorded run; leave out -n and --sweep");
  refuse(sweeps && !options.baseline.empty(),
         "--sweep compares with the machine as it is; leave out --baseline");
  refuse(!sweeps && options.csv, "--csv is for --sweep; --json works with one run, too");
  refuse(options.csv && options.run.json, "--csv and --json: choose one");
  refuse(!live && options.meanwhile.on,
         "--watch PAGE.html shows the machine; --watch alone, with -n, shows a program that runs "
         "live");
  refuse(options.meanwhile.on && options.run.output.empty(),
         "--watch looks at the trace while it grows; say -o P.ftr");
  refuse(options.meanwhile.on && options.run.json,
         "--watch looks at the trace while it grows; --json keeps it in memory");
  // Before anything is read or said.
  parse_sweeps(options.sweeps);
}

// Of --watch: what happens on the architecture.
std::unique_ptr<architecture::Recording> recording_of(const Options& options,
                                                      Simulation& simulation) {
  if (!options.watch.file.empty() && !simulation.architecture())
    throw UsageError("--watch shows a machine of parts; choose it with --network arch:FILE");
  if (!options.watch.file.empty() && simulation.network() == sim::NetworkKind::hops)
    throw UsageError(
        "--watch: where all boxes have the level hops messages do not meet, and none is followed; "
        "give a box the level packet");
  if (!options.watch.file.empty() && (!options.sweeps.empty() || options.run.stats))
    throw UsageError("--watch shows one run; leave out --sweep and --stats");
  if (options.watch.file.empty() && !simulation.architecture()) return nullptr;
  auto recording = recording_of(options.watch, simulation.architecture()->flat, "simulate --watch");
  simulation.record_messages(recording.get());
  return recording;
}

void write_watch(const Options& options, const Simulation& simulation,
                 const architecture::Recording& recording, RankRecorder& ranks) {
  const ArchitectureNetwork& machine = *simulation.architecture();
  if (const machine::Placement* placement = simulation.placement())
    for (const machine::NodeId node : *placement)
      ranks.ranks.entities.push_back(machine.graph.entity_of[static_cast<std::size_t>(node.value)]);
  const std::string program = options.input.empty() ? "" : options.input.front() + " on ";
  std::string chosen;
  for (const auto* all :
       {&options.simulation.architecture.levels, &options.simulation.architecture.parameters})
    for (const std::string& one : *all) chosen += (chosen.empty() ? ", " : "; ") + one;
  write_watch(options.watch, machine.flat, recording, ranks.ranks, ranks.end(),
              program + machine.flat.name + chosen);
}

// What the replay alone takes: nothing is kept of it.
sim::Stats stats_of_replay(const Simulation& simulation) {
  const std::unique_ptr<sim::Source> source = simulation.open_shared();
  sim::NullSink sink;
  return simulation.run(*source, sink).stats;
}

int simulate(Options& options) {
  check_options(options);
  if (options.simulation.live_ranks > 0) check_live_run(options.simulation.live_ranks);
  if (!options.run.output.empty()) {
    check_trace_output(options.run.output, "simulate");
    check_writable(options.run.output);
  }
  OutputClaim claim;
  if (options.simulation.live_ranks > 0 && !options.run.output.empty())
    claim = OutputClaim(options.run.output);
  if (!options.baseline.empty()) options.run.baseline = read_baseline(options.baseline);
  std::optional<live::Command> program;
  if (options.simulation.live_ranks > 0) {
    program = prepare_live(options.input, options.mpi, options.simulation);
    program->output_to_stderr = options.run.json;
    if (!options.start.empty()) program->environment.push_back("FORETRACE_START=" + options.start);
    if (!options.wtime.empty()) program->environment.push_back("FORETRACE_WTIME=" + options.wtime);
    if (!options.waits.empty()) program->environment.push_back("FORETRACE_WAITS=" + options.waits);
    if (options.simulation.sample > 0)
      program->environment.push_back("FORETRACE_SAMPLE=" +
                                     std::to_string(options.simulation.sample));
    warn_of_samples(options.simulation.sample);
  } else {
    options.simulation.input = options.input.front();
  }
  Simulation simulation(options.simulation);
  tell(simulation.notes());
  const std::unique_ptr<architecture::Recording> recording = recording_of(options, simulation);
  std::optional<RankRecorder> ranks;
  if (recording) options.run.ranks = &ranks.emplace(options.watch);
  if (program) {
    const int status = run_live(simulation, *program, options.run, options.meanwhile);
    if (recording) write_watch(options, simulation, *recording, *ranks);
    return status;
  }
  if (!options.sweeps.empty()) return sweep(simulation, options);
  const Recordings recordings(simulation, options);
  if (options.samples > 0)
    options.run.samples =
        draw_samples(recordings.all(), options.samples, options.seed, count_progress("draws"));
  // For statistics the operations are in memory before.
  const bool stats = options.run.stats;
  if (stats) simulation.prepare_sharing();
  const std::unique_ptr<sim::Source> source = stats ? simulation.open_shared() : simulation.open();
  run_once(simulation, *source, options.run,
           stats ? [&] { return stats_of_replay(simulation); } : std::function<sim::Stats()>());
  if (recording) write_watch(options, simulation, *recording, *ranks);
  return recordings.status();
}

void check(const Options& options) {
  check_options(options);
  Simulation::check(options.simulation);
}

std::shared_ptr<Options> declare_options(CLI::App& app) {
  auto options = std::make_shared<Options>();
  SimulationOptions& simulation = options->simulation;
  app.add_option("input", options->input,
                 "A trace made by record (or predict), a text program (FILE.goal), or a "
                 "time-independent trace of SimGrid (FILE.ti), or with --samples several of one "
                 "program; with -n, after --: a program and its arguments, which runs live")
      ->required();
  app.add_option("-n", simulation.live_ranks, "Run a program live on so many ranks")
      ->check(in_range(1, 1 << 20));
  app.add_option("--spawn", simulation.spawn,
                 "Live: room for so many more processes, which MPI_Comm_spawn may start")
      ->check(in_range(0, 1 << 20));
  app.add_option("--mpi", options->mpi,
                 "Live: the program's MPI, if it cannot be seen: openmpi, mpich or standard")
      ->check(offers("openmpi,mpich,standard"));
  add_start_option(app, options->start);
  add_wtime_option(app, options->wtime,
                   "Live: what the computer's clocks show the program: virtual or real time; "
                   "MPI_Wtime is virtual");
  add_waits_option(app, options->waits);
  add_sample_option(app, simulation.sample);
  add_simulation_options(app, simulation);
  app.add_option("-o,--output", options->run.output, "Write the predicted trace");
  app.add_option("--baseline", options->baseline, kBaselineHelp);
  CLI::Option* const samples =
      app.add_option("--samples", options->samples,
                     "Simulate so often on machines drawn within the model's errors, too: median "
                     "and 90 % of the run time")
          ->check(in_range(2, 1'000'000));
  app.add_option("--seed", options->seed, "Of --samples: another one gives other draws")
      ->capture_default_str()
      ->needs(samples);
  app.add_option("--sweep", options->sweeps,
                 "NAME=VALUES with NAME latency, bandwidth, overhead, compute (factors) or S, e.g. "
                 "latency=0.1,1,10 or bandwidth=1:10:log:5; several make a grid")
      ->type_size(1)
      ->allow_extra_args(false);
  app.add_option("--jobs", options->jobs, "Simulations of a sweep at once (0: one per processor)")
      ->check(in_range(0, 1 << 16));
  app.add_flag("--csv", options->csv, "With --sweep: print comma-separated values");
  CLI::Option* const watch = add_watch_options(app, options->watch)->expected(0, 1);
  watch->description(
      "Live: show meanwhile what the ranks do, as foretrace watch does. With a name: " +
      watch->get_description());
  app.parse_complete_callback([options, watch] {
    options->meanwhile.on = watch->count() > 0 && options->watch.file.empty();
  });
  add_watcher_details(app, options->meanwhile, watch);
  app.add_flag("--links", options->run.links, "Tell which links carried how much, and when");
  app.add_flag("--stats", options->run.stats, "Tell operations, messages, seconds and memory");
  app.add_flag("--json", options->run.json, "Print one JSON object");
  return options;
}

std::function<int()> declare(CLI::App& app) {
  return [options = declare_options(app)] { return simulate(*options); };
}

std::function<void()> declare_to_check(CLI::App& app) {
  return [options = declare_options(app)] { check(*options); };
}

}  // namespace
}  // namespace simulate_command

const Subcommand kSimulate{
    "simulate",
    "Replay a recorded run or a text program, or run a program live, on a machine and a network",
    simulate_command::declare,
    "foretrace simulate run.ftr --machine cray-t3d -o p.ftr\n"
    "foretrace simulate run.ftr --machine cray-t3d --network flow --topology torus:4x4\n"
    "foretrace simulate -n 1024 --machine cray-t3d -o p.ftr -- ./app\n",
    simulate_command::declare_to_check};

}  // namespace foretrace::cli
