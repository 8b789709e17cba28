#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "analysis/links.hpp"
#include "analysis/profile.hpp"
#include "base/error.hpp"
#include "cli/simulation.hpp"
#include "cli/subcommand.hpp"
#include "cli/sweep.hpp"
#include "sim/sink.hpp"
#include "trace/trace.hpp"
#include "views/link_report.hpp"
#include "views/report.hpp"
#include "views/sweep_report.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  SimulationOptions simulation;
  std::vector<std::string> sweeps;
  int jobs = 0;
  bool csv = false;
  bool links = false;
  std::string output;
  bool stats = false;
  bool json = false;
};

void print_text(const sim::SimulateResult& result, const std::string& where, bool with_stats) {
  Time serial;
  for (const sim::RankResult& rank : result.ranks) serial += rank.compute;
  const double time = result.time.seconds();
  const double speedup = time > 0 ? serial.seconds() / time : 0;
  std::printf("predicted time %.6g s on %zu %s%s\n", time, result.ranks.size(),
              result.ranks.size() == 1 ? "rank" : "ranks", where.c_str());
  std::printf("serial time %.6g s, speed-up %.4g, efficiency %.1f %%\n", serial.seconds(), speedup,
              100 * speedup / static_cast<double>(result.ranks.size()));
  if (!with_stats) return;
  const sim::Stats& stats = result.stats;
  std::printf(
      "replayed %llu operations, %llu messages in %.3g s (%.3g million operations, %.3g million "
      "messages a second), %zu bytes at most\n",
      static_cast<unsigned long long>(stats.operations),
      static_cast<unsigned long long>(stats.messages), stats.seconds,
      stats.seconds > 0 ? static_cast<double>(stats.operations) / stats.seconds * 1e-6 : 0,
      stats.seconds > 0 ? static_cast<double>(stats.messages) / stats.seconds * 1e-6 : 0,
      stats.peak_bytes);
}

// A deadlock's report has a line for each blocked rank; the error's own line
// is the first.
template <class Run>
auto explain_deadlock(Run run) {
  try {
    return run();
  } catch (const sim::Deadlock& deadlock) {
    std::fprintf(stderr, "%s", deadlock.report().c_str());
    throw;
  }
}

// The predicted trace has a writer, and so a file descriptor, for each rank.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// What the simulated links carried; nothing where messages do not share any.
std::optional<analysis::LinksProfile> profile_of_links(const sim::SimulateResult& result,
                                                       const machine::Topology* topology) {
  if (!result.links) return std::nullopt;
  analysis::NetworkUse use;
  use.time = result.time;
  use.bin_width = result.links->bin_width();
  for (const sim::LinkLoad& load : result.links->loads())
    use.links.push_back(
        {load.link, load.messages, load.bytes, load.busy, result.links->history(load.link)});
  return analysis::profile_links(use, topology);
}

PointResult run_point(const Simulation& simulation, const SweepPoint& point) {
  const std::unique_ptr<sim::Source> source = simulation.open_shared();
  sim::NullSink sink;
  const sim::SimulateResult result = simulation.run(*source, sink, factors_of(point));
  PointResult summary;
  summary.time = result.time;
  summary.ranks = simulation.ranks();
  for (const sim::RankResult& rank : result.ranks) {
    summary.serial_time += rank.compute;
    summary.wait += rank.wait;
  }
  return summary;
}

int sweep(Simulation& simulation, const Options& options) {
  const std::vector<Sweep> sweeps = parse_sweeps(options.sweeps);
  check_sweeps(sweeps, {simulation.equations_alone(), simulation.computes()});
  simulation.prepare_sharing();
  SweepRunner runner;
  runner.run = [&](const SweepPoint& point) { return run_point(simulation, point); };
  runner.jobs = options.jobs;
  runner.progress = terminal_progress();
  const views::SweepReport report = run_sweep(sweeps, runner);
  if (!options.json && !options.csv)
    std::printf("%d ranks%s\n", simulation.ranks(), simulation.where().c_str());
  const std::string text = options.json  ? views::render_json_sweep(report)
                           : options.csv ? views::render_csv_sweep(report)
                                         : views::render_text_sweep(report);
  std::fputs(text.c_str(), stdout);
  return 0;
}

// Options of one run that a sweep has no place for, and the reverse.
void check_options(const Options& options) {
  const bool sweeps = !options.sweeps.empty();
  const auto refuse = [](bool given, const char* what) {
    if (given) throw UsageError(what);
  };
  refuse(sweeps && !options.output.empty(),
         "--sweep writes no trace; leave out -o, or simulate one point without --sweep");
  refuse(sweeps && (options.links || options.stats),
         "--sweep prints a table; leave out --links and --stats, or simulate one point");
  refuse(!sweeps && options.csv, "--csv is for --sweep; --json works with one run, too");
  refuse(options.csv && options.json, "--csv and --json: choose one");
  // Before anything is read or said.
  parse_sweeps(options.sweeps);
}

// What the replay alone takes: nothing is kept of it.
sim::Stats stats_of_replay(const Simulation& simulation) {
  const std::unique_ptr<sim::Source> source = simulation.open_shared();
  sim::NullSink sink;
  return simulation.run(*source, sink).stats;
}

int simulate(const Options& options) {
  check_options(options);
  allow_many_files();
  Simulation simulation(options.simulation);
  for (const std::string& note : simulation.notes())
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (!options.sweeps.empty()) return sweep(simulation, options);
  // For statistics the operations are in memory before.
  if (options.stats) simulation.prepare_sharing();
  const std::unique_ptr<sim::Source> source =
      options.stats ? simulation.open_shared() : simulation.open();
  sim::SimulateResult result;
  std::string json;
  if (options.json) {
    // The report needs the events; they are kept in memory.
    sim::MemorySink sink(*source, simulation.info());
    result = explain_deadlock([&] { return simulation.run(*source, sink); });
    trace::Trace predicted = sink.take();
    predicted.sealed = simulation.sealed();
    predicted.damage = simulation.damage();
    if (options.stats) result.stats = stats_of_replay(simulation);
    std::optional<views::ReplayStats> stats;
    if (options.stats)
      stats = views::ReplayStats{result.stats.operations, result.stats.messages,
                                 result.stats.seconds, result.stats.peak_bytes};
    const auto links = options.links ? profile_of_links(result, simulation.topology())
                                     : std::optional<analysis::LinksProfile>();
    json = views::render_json_report(analysis::profile_trace(predicted), stats,
                                     links ? &*links : nullptr);
    if (!options.output.empty()) trace::write_trace(predicted, options.output);
  } else if (!options.output.empty()) {
    sim::FileSink sink(*source, simulation.info(), options.output);
    result = explain_deadlock([&] { return simulation.run(*source, sink); });
    sink.finish();
    if (options.stats) result.stats = stats_of_replay(simulation);
  } else {
    sim::NullSink sink;
    result = explain_deadlock([&] { return simulation.run(*source, sink); });
  }
  for (const std::string& note : result.notes)
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (options.links && !result.links)
    std::fprintf(stderr, "foretrace: --links: messages share links on bus, flow and packet only\n");
  if (options.json) {
    std::fputs(json.c_str(), stdout);
    return 0;
  }
  print_text(result, simulation.where(), options.stats);
  if (!options.links) return 0;
  if (const auto links = profile_of_links(result, simulation.topology()))
    std::fputs(views::render_text_links(*links).c_str(), stdout);
  return 0;
}

CLI::Validator above_zero() {
  return {[](std::string& text) {
            double value = 0;
            return CLI::detail::lexical_cast(text, value) && value > 0
                       ? std::string()
                       : "expected a number above 0, found " + text;
          },
          "ABOVE 0"};
}

// "64KiB" in bytes. CLI11 alone takes -1 and what does not fit as large numbers.
CLI::Validator size_in_bytes() {
  return {[](std::string& text) {
            constexpr std::size_t kMostDigits = 15;
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            return digits == 0 || digits > kMostDigits
                       ? "expected a size such as 2048 or 64KiB, found " + text
                       : CLI::AsSizeValue(false)(text);
          },
          "SIZE"};
}

void add_network_options(CLI::App& app, SimulationOptions& options) {
  app.add_option("--network", options.network,
                 "How messages travel: datasheet (equations alone), loggps, "
                 "hops[:cut-through], bus, flow, packet");
  app.add_option("--topology", options.topology,
                 "KIND:SIZES[?KEY=VALUE&...], e.g. torus:4x4x4?latency=1us&bandwidth=1GB/s, or a "
                 "TOML file");
  app.add_option("--loggps", options.loggps,
                 "Sets or overrides L=2us,o=500ns,os=..,or=..,g=100ns,G=0.08ns,S=65536");
  app.add_option("--placement", options.placement,
                 "Ranks on processors: block, round-robin, random:SEED, FILE")
      ->capture_default_str();
  app.add_option("--collectives", options.collectives,
                 "equation (of the model), algorithm (messages), openmpi, mpich, or choices such "
                 "as bcast=binomial,allreduce=ring");
  app.add_option("--wildcards", options.wildcards,
                 "MPI_ANY_SOURCE takes the message of the recorded run, or the first in virtual "
                 "time: recorded, arrival")
      ->check(CLI::IsMember({"recorded", "arrival"}))
      ->capture_default_str();
  app.add_option("--flops", options.flops,
                 "FILE.ti: floating point operations per second of a processor")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--derived-type", options.derived_type,
                 "FILE.ti: bytes of a derived datatype, which such traces do not tell")
      ->transform(size_in_bytes());
  app.add_option("--reduction", options.reduction,
                 "Time per byte to combine data in an expanded reduction, e.g. 0.1ns");
  app.add_option("--block", options.block, "hops: bytes of a store-and-forward block (0: all)")
      ->transform(size_in_bytes());
  app.add_option("--packet-size", options.packet_size, "packet: bytes of a packet")
      ->transform(size_in_bytes())
      ->capture_default_str();
  app.add_option("--buffer", options.buffer, "packet: packets that an input of a switch holds")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--routing", options.routing, "packet: minimal, adaptive")
      ->check(CLI::IsMember({"minimal", "adaptive"}))
      ->capture_default_str();
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  SimulationOptions& simulation = options->simulation;
  app.add_option("input", simulation.input,
                 "A trace made by record (or predict), a text program (FILE.goal), or a "
                 "time-independent trace of SimGrid (FILE.ti)")
      ->required();
  app.add_option("--machine", simulation.machine, "The machine model (TOML)");
  add_network_options(app, simulation);
  app.add_option("--compute", simulation.compute,
                 "Time between calls: none, recorded[:SCALE], annotated (FORETRACE_COMPUTE)")
      ->capture_default_str();
  app.add_option("--bound", simulation.bound,
                 "Which end of the model's error interval: min, avg, max")
      ->check(CLI::IsMember({"min", "avg", "max"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Write the predicted trace");
  app.add_option("--sweep", options->sweeps,
                 "NAME=VALUES with NAME latency, bandwidth, overhead, compute (factors) or S, e.g. "
                 "latency=0.1,1,10 or bandwidth=1:10:log:5; several make a grid")
      ->type_size(1)
      ->allow_extra_args(false);
  app.add_option("--jobs", options->jobs, "Simulations of a sweep at once (0: one per processor)")
      ->check(CLI::Range(0, 1 << 16));
  app.add_flag("--csv", options->csv, "With --sweep: print comma-separated values");
  app.add_flag("--links", options->links, "Tell which links carried how much, and when");
  app.add_flag("--stats", options->stats, "Tell operations, messages, seconds and memory");
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return simulate(*options); };
}

}  // namespace

const Subcommand kSimulate{
    "simulate", "Replay a recorded run or a text program on a machine and a network", declare};

}  // namespace foretrace::cli
