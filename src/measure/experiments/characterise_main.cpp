// foretrace-measure-<mpi>: times the MPI functions of the machine that it runs
// on, as an ordinary MPI job, and writes samples (samples.hpp). Fitting is not
// done here.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/error.hpp"
#include "measure/core/hosts.hpp"
#include "measure/core/options.hpp"
#include "measure/core/samples.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/conditions.hpp"
#include "measure/experiments/fingerprint.hpp"
#include "measure/experiments/headers.hpp"
#include "measure/experiments/launch_run.hpp"
#include "measure/experiments/standstill.hpp"
#include "measure/experiments/thresholds.hpp"
#include "mpi_api/hosts.hpp"

namespace foretrace::measure {
namespace {

std::string host_name() {
  char text[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void warn_of_oversubscription() {
  std::cerr << "foretrace-measure: WARNING: there are more ranks than processor cores. The ranks "
               "wait for each other's time slices and not for messages, so the figures say "
               "nothing of this machine. Measure with no more ranks than cores.\n";
}

// More ranks than cores: everything once and quickly, the figures are worth
// nothing anyway.
RunnerSettings make_settings(const Group& world, ProgramOptions& options, const CommonClock& clock,
                             bool oversubscribed) {
  RunnerSettings settings;
  settings.clock = &clock;
  settings.start_by_barrier = options.start_by_barrier;
  settings.oversubscribed = oversubscribed;
  settings.timer = examine_timer();
  settings.yields = !oversubscribed && waits_by_yielding(world);
  if (oversubscribed) {
    options.effort.rounds = 1;
    options.effort.blocks = 1;
    settings.repetitions = 4;
    settings.rehearsals = 1;
    settings.point_seconds = 0.01;
  }
  settings.blocks = options.effort.blocks;
  return settings;
}

// Where messages take long, fewer and smaller ones: the time is for protocols and latencies, long
// messages are all bandwidth.
void fit_to_network(const Group& world, const Hosts& hosts, ProgramOptions& options) {
  if (options.max_bytes_given) return;
  std::uint64_t affordable = options.affordable.value_or(options.long_bytes);
  if (!options.affordable) {
    Group pair = group_of_ranks(world, outer_pair(hosts));
    if (pair.comm != MPI_COMM_NULL) {
      affordable = affordable_bytes(pair, options.max_bytes, options.long_bytes);
      MPI_Comm_free(&pair.comm);
    }
    MPI_Bcast(&affordable, 1, MPI_UINT64_T, 0, world.comm);
  }
  options.long_bytes = std::min(options.long_bytes, affordable);
  if (affordable >= options.max_bytes) return;
  options.max_bytes = affordable;
  options.effort.per_octave = 1;
}

// The clocks before a launch: twice, because two moments tell the drift.
void measure_clocks(CommonClock& clock) {
  constexpr std::int64_t kApart = 200'000'000;
  clock.measure();
  if (!clock.several_hosts()) return;
  spin_until(now_ns() + kApart, true);
  clock.measure();
}

// The thresholds of a pair of ranks, known to all.
Thresholds probe_thresholds(const Group& world, const std::vector<int>& ranks,
                            const ProgramOptions& options, const RunnerSettings& settings) {
  Group pair = group_of_ranks(world, ranks);
  Thresholds found;
  if (pair.comm != MPI_COMM_NULL) {
    found = find_thresholds(pair, static_cast<std::int64_t>(options.max_bytes), *settings.clock,
                            settings.yields);
    MPI_Comm_free(&pair.comm);
  }
  std::int64_t known[3] = {found.sync.value_or(-2), found.local.value_or(-2), found.out_of_time};
  MPI_Bcast(known, 3, MPI_INT64_T, 0, world.comm);
  const auto from = [](std::int64_t value) {
    return value == -2 ? std::optional<std::int64_t>() : std::optional(value);
  };
  return {from(known[0]), from(known[1]), known[2] != 0};
}

// What a message between two hosts adds to its bytes; 0: there is one host, or it is not known. The
// same on all ranks.
std::uint64_t probe_header(const Group& world, const Hosts& hosts) {
  std::uint64_t header = 0;
  if (std::ranges::count(hosts, 0) == world.size) return header;
  Group pair = group_of_ranks(world, outer_pair(hosts));
  if (pair.comm != MPI_COMM_NULL) {
    header = measure_header(pair);
    MPI_Comm_free(&pair.comm);
  }
  MPI_Bcast(&header, 1, MPI_UINT64_T, 0, world.comm);
  return header;
}

using Facts = std::map<std::string, std::string>;

void note_thresholds(const Thresholds& thresholds, const std::string& prefix, Facts& info) {
  if (thresholds.sync) info[prefix + "sync_threshold"] = std::to_string(*thresholds.sync);
  if (thresholds.local && *thresholds.local >= 0)
    info[prefix + "local_threshold"] = std::to_string(*thresholds.local);
}

// The last sizes before them.
void add_last_sizes(const Thresholds& thresholds, std::set<std::uint64_t>& sizes) {
  if (thresholds.sync && *thresholds.sync > 0)
    sizes.insert(static_cast<std::uint64_t>(*thresholds.sync - 1));
  if (thresholds.local && *thresholds.local >= 0)
    sizes.insert(static_cast<std::uint64_t>(*thresholds.local));
}

void note_jumps(const Jumps& jumps, Facts& info) {
  const auto note = [&info](const std::string& key, const std::set<std::uint64_t>& sizes) {
    std::string list;
    for (const std::uint64_t size : sizes) list += (list.empty() ? "" : " ") + std::to_string(size);
    if (!list.empty()) info[key] = list;
  };
  std::set<std::uint64_t> between;
  for (const auto& [function, found] : jumps) {
    note("jumps_" + function, found.jumps);
    between.insert(found.between.begin(), found.between.end());
  }
  note("sizes_between", between);
}

void note_state(const ProgramOptions& options, const TimerFacts& timer, const Fingerprint& before,
                const Fingerprint& after, double seconds, Facts& info) {
  const std::string launch = "launch_" + std::to_string(options.launch) + "_";
  const auto note = [&](const char* key, double first, double last) {
    info[launch + key] = short_text(first);
    info[launch + key + "_after"] = short_text(last);
  };
  if (before.bounce > 0 && after.bounce > 0) note("bounce", before.bounce, after.bounce);
  note("bandwidth", before.bandwidth, after.bandwidth);
  note("load", before.load, after.load);
  info[launch + "timer_resolution"] = short_text(timer.resolution);
  info[launch + "timer_overhead"] = short_text(timer.overhead);
  info[launch + "seconds"] = short_text(seconds);
}

int run(const std::vector<std::string>& arguments) {
  const std::int64_t began = unshifted_ns();
  const Group world = group_of(MPI_COMM_WORLD);
  ProgramOptions options = parse_program_options(arguments);
  if (world.size < 2)
    throw UsageError("foretrace-measure needs at least 2 ranks; start it with mpirun -n 2 or more");
  shift_clock_for_tests(world.rank);
  watch_for_standstill(world.rank, options.output);
  const bool oversubscribed = is_oversubscribed(world.comm);
  const bool refused = oversubscribed && options.need_cores;
  if (oversubscribed && !refused && world.rank == 0) warn_of_oversubscription();
  CommonClock clock(world.comm);
  measure_clocks(clock);
  const RunnerSettings settings = make_settings(world, options, clock, oversubscribed);
  LineWatch watch(world.comm);
  const Fingerprint before = take_fingerprint(world.comm, watch);

  const Hosts hosts = mpi_api::find_hosts(world.comm);
  if (!oversubscribed) fit_to_network(world, hosts, options);
  begin_work("the search for thresholds");
  Thresholds thresholds;
  Thresholds within;  // a node
  if (!oversubscribed) thresholds = probe_thresholds(world, outer_pair(hosts), options, settings);
  if (!oversubscribed && has_two_paths(hosts))
    within = probe_thresholds(world, {0, first_host(hosts).back()}, options, settings);
  const std::uint64_t header = oversubscribed ? 0 : probe_header(world, hosts);
  std::set<std::uint64_t> known;
  add_last_sizes(thresholds, known);
  add_last_sizes(within, known);
  LaunchRun::Result result;
  if (!options.only_thresholds && !refused)
    result = LaunchRun(world, hosts, options, clock, settings, watch).run(known);

  const Fingerprint after = take_fingerprint(world.comm, watch);
  SampleSet set;
  set.info = describe_machine(world.comm);
  clock.release();
  if (world.rank != 0) return 0;
  set.samples = std::move(result.samples);
  set.info["host"] = host_name();
  set.info["ranks"] = std::to_string(world.size);
  set.info["timer_resolution"] = short_text(settings.timer.resolution);
  set.info["timer_overhead"] = short_text(settings.timer.overhead);
  set.info["start"] = settings.start_by_barrier ? "barrier" : "common clock";
  set.info["buffers"] = options.cold ? "cold" : "warm";
  set.info["oversubscribed"] = oversubscribed ? "yes" : "no";
  set.info["waits_by_yielding"] = settings.yields ? "yes" : "no";
  set.info["max_bytes"] = std::to_string(std::max(options.max_bytes, options.long_bytes));
  if (clock.several_hosts()) {
    set.info["clock_hosts"] = std::to_string(clock.hosts());
    set.info["clock_error"] = short_text(clock.error());
  }
  if (!result.complete)
    set.info["launch_" + std::to_string(options.launch) + "_incomplete"] = "yes";
  if (!result.all_functions)
    set.info["launch_" + std::to_string(options.launch) + "_functions"] = "out of time";
  if (std::ranges::count(hosts, 0) < world.size) set.info["hosts_of_ranks"] = text_of(hosts);
  if (header > 0) set.info["header"] = std::to_string(header);
  if (thresholds.out_of_time || within.out_of_time)
    set.info["launch_" + std::to_string(options.launch) + "_thresholds"] = "out of time";
  note_thresholds(thresholds, "", set.info);
  note_thresholds(within, kNodePrefix, set.info);
  note_jumps(result.jumps, set.info);
  const double seconds = 1e-9 * static_cast<double>(unshifted_ns() - began);
  note_state(options, settings.timer, before, after, seconds, set.info);
  write_samples(set, options.output);
  return 0;
}

// Every rank sees the same arguments and fails alike; what only one rank
// meets (a full disk) has to take the others with it.
int guarded(const std::vector<std::string>& arguments) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    return run(arguments);
  } catch (const UsageError& error) {
    if (rank == 0) std::cerr << "foretrace-measure: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "foretrace-measure: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

}  // namespace
}  // namespace foretrace::measure

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = foretrace::measure::guarded({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
