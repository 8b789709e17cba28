#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "analysis/profile.hpp"
#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/summary.hpp"
#include "machine/machine_file.hpp"
#include "sim/engine.hpp"
#include "sim/sink.hpp"
#include "sim/trace_source.hpp"
#include "views/report.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string trace;
  std::string machine;
  std::string output;
  std::string network = "datasheet";
  std::string compute = "recorded";
  std::string bound = "avg";
  bool stats = false;
  bool json = false;
};

machine::Bound parse_bound(const std::string& name) {
  return name == "min"   ? machine::Bound::min
         : name == "max" ? machine::Bound::max
                         : machine::Bound::avg;
}

sim::SimulateOptions simulate_options(const std::string& compute) {
  check_compute_option(compute, "recorded");
  sim::SimulateOptions options;
  options.compute = compute == "none"        ? sim::ComputeMode::none
                    : compute == "annotated" ? sim::ComputeMode::annotated
                                             : sim::ComputeMode::recorded;
  if (const auto colon = compute.find(':'); colon != std::string::npos)
    std::from_chars(compute.data() + colon + 1, compute.data() + compute.size(), options.scale);
  return options;
}

trace::TraceInfo simulated_info(const trace::TraceInfo& recorded,
                                const machine::MachineModel& model, const Options& options) {
  trace::TraceInfo info = recorded;
  info.clock = trace::Clock::virtual_;
  info.origin = "simulate";
  info.machine = model.name;
  info.options = "bound=" + options.bound + " compute=" + options.compute;
  return info;
}

void print_text(const sim::SimulateResult& result, const machine::MachineModel& model,
                const Options& options) {
  Time serial;
  for (const sim::RankResult& rank : result.ranks) serial += rank.compute;
  const double time = result.time.seconds();
  const double speedup = time > 0 ? serial.seconds() / time : 0;
  std::printf("predicted time %.6g s on %zu ranks of %s\n", time, result.ranks.size(),
              model.name.c_str());
  std::printf("serial time %.6g s, speed-up %.4g, efficiency %.1f %%\n", serial.seconds(), speedup,
              100 * speedup / static_cast<double>(result.ranks.size()));
  if (!options.stats) return;
  const sim::Stats& stats = result.stats;
  std::printf(
      "replayed %llu operations, %llu messages in %.3g s (%.3g million operations a second), "
      "%zu bytes at most\n",
      static_cast<unsigned long long>(stats.operations),
      static_cast<unsigned long long>(stats.messages), stats.seconds,
      stats.seconds > 0 ? static_cast<double>(stats.operations) / stats.seconds * 1e-6 : 0,
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

int simulate(const Options& options) {
  allow_many_files();
  const machine::MachineModel model = machine::read_machine_file(options.machine);
  const machine::Timing timing(model, parse_bound(options.bound));
  const sim::SimulateOptions how = simulate_options(options.compute);
  trace::TraceReader reader(options.trace);
  sim::TraceSource source(reader);
  const trace::TraceInfo info = simulated_info(reader.info(), model, options);

  sim::SimulateResult result;
  std::string json;
  if (options.json) {
    // The report needs the events; they are kept in memory.
    sim::MemorySink sink(source, info);
    result = explain_deadlock([&] { return sim::simulate(source, timing, how, sink); });
    trace::Trace predicted = sink.take();
    predicted.sealed = reader.sealed();
    predicted.damage = reader.damage();
    std::optional<views::ReplayStats> stats;
    if (options.stats)
      stats = views::ReplayStats{result.stats.operations, result.stats.messages,
                                 result.stats.seconds, result.stats.peak_bytes};
    json = views::render_json_report(analysis::profile_trace(predicted), stats);
    if (!options.output.empty()) trace::write_trace(predicted, options.output);
  } else if (!options.output.empty()) {
    sim::FileSink sink(source, info, options.output);
    result = explain_deadlock([&] { return sim::simulate(source, timing, how, sink); });
    sink.finish();
  } else {
    sim::NullSink sink;
    result = explain_deadlock([&] { return sim::simulate(source, timing, how, sink); });
  }
  for (const std::string& note : result.notes)
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (options.json)
    std::fputs(json.c_str(), stdout);
  else
    print_text(result, model, options);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "A trace made by record (or predict)")->required();
  app.add_option("--machine", options->machine, "The machine model (TOML)")->required();
  app.add_option("--network", options->network, "The network model: datasheet (equations alone)")
      ->check(CLI::IsMember({"datasheet"}))
      ->capture_default_str();
  app.add_option("--compute", options->compute,
                 "Time between calls: none, recorded[:SCALE], annotated (FORETRACE_COMPUTE)")
      ->capture_default_str();
  app.add_option("--bound", options->bound,
                 "Which end of the model's error interval: min, avg, max")
      ->check(CLI::IsMember({"min", "avg", "max"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Write the predicted trace");
  app.add_flag("--stats", options->stats, "Tell operations, messages, seconds and memory");
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return simulate(*options); };
}

}  // namespace

const Subcommand kSimulate{"simulate", "Replay a recorded trace on a machine model", declare};

}  // namespace foretrace::cli
