// foretrace-measure-<mpi>: times the MPI functions of the machine that it runs
// on, as an ordinary MPI job, and writes samples (samples.hpp). Fitting is not
// done here.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "measure/clock.hpp"
#include "measure/compute_step.hpp"
#include "measure/kernels.hpp"
#include "measure/options.hpp"
#include "measure/runner.hpp"
#include "measure/samples.hpp"

namespace foretrace::measure {
namespace {

// One point of the plan: a group and a message size.
enum class Family { point_to_point, collective, barrier };
struct Point {
  Family family;
  std::size_t group;  // index into Plan::groups
  std::uint64_t bytes;
};

struct Plan {
  std::vector<Group> groups;  // 0: the pair; then one for each number of ranks
  std::vector<Point> points;
};

// What each rank may use for the buffers of a collective.
constexpr std::uint64_t kMaxBuffer = 256 << 20;

MPI_Comm subgroup(const Group& world, bool member, int key) {
  MPI_Comm comm;
  MPI_Comm_split(world.comm, member ? 0 : MPI_UNDEFINED, key, &comm);
  return comm;
}

Group group_if_member(MPI_Comm comm) {
  return comm == MPI_COMM_NULL ? Group{} : group_of(comm);
}

// The first and the last rank: on several hosts their messages cross the
// network.
Group make_pair_group(const Group& world) {
  const bool member = world.rank == 0 || world.rank == world.size - 1;
  return group_if_member(subgroup(world, member, world.rank));
}

void plan_collectives(Plan& plan, const Group& world, const std::vector<std::uint64_t>& sizes) {
  for (int ranks : rank_counts(world.size)) {
    plan.groups.push_back(group_if_member(subgroup(world, world.rank < ranks, world.rank)));
    const std::size_t group = plan.groups.size() - 1;
    plan.points.push_back({Family::barrier, group, 0});
    for (std::uint64_t bytes : sizes)
      if (bytes * static_cast<std::uint64_t>(ranks) <= kMaxBuffer)
        plan.points.push_back({Family::collective, group, bytes});
  }
}

Plan make_plan(const Group& world, const Group& pair, const ProgramOptions& options,
               long long threshold) {
  Plan plan{{pair}, {}};
  const auto grid = message_sizes(options.max_bytes, options.effort.per_octave);
  std::set<std::uint64_t> sizes(grid.begin(), grid.end());
  sizes.insert(0);
  // Both sides of the one jump whose place is known to the byte.
  if (threshold > 0) {
    sizes.insert(static_cast<std::uint64_t>(threshold - 1));
    sizes.insert(static_cast<std::uint64_t>(threshold));
  }
  for (std::uint64_t bytes : sizes) plan.points.push_back({Family::point_to_point, 0, bytes});
  // Reductions need whole doubles, and all collectives get the same sizes.
  std::set<std::uint64_t> collective_sizes;
  for (std::uint64_t bytes : grid) collective_sizes.insert(bytes > 4 ? (bytes + 4) / 8 * 8 : bytes);
  plan_collectives(plan, world, {collective_sizes.begin(), collective_sizes.end()});
  return plan;
}

Buffers make_buffers(const Plan& plan) {
  std::uint64_t most = 64;
  for (const Point& point : plan.points) {
    const Group& group = plan.groups[point.group];
    if (group.comm == MPI_COMM_NULL) continue;
    const auto parts = point.family == Family::collective ? group.size : 1;
    most = std::max(most, point.bytes * static_cast<std::uint64_t>(parts));
  }
  return {std::vector<char>(most, 0), std::vector<char>(most, 0)};
}

std::vector<Experiment> experiments_of(const Point& point, const Group& group, Buffers& buffers) {
  switch (point.family) {
    case Family::point_to_point:
      return point_to_point_experiments(group, point.bytes, buffers);
    case Family::collective:
      return collective_experiments(group, point.bytes, buffers);
    case Family::barrier:
      return barrier_experiments(group);
  }
  return {};
}

void measure_point(const Point& point, const Group& group, const RunnerSettings& settings,
                   Buffers& buffers, int launch, std::vector<Sample>& samples) {
  for (const Experiment& experiment : experiments_of(point, group, buffers))
    for (const Block& block : run_experiment(experiment, group, settings))
      samples.push_back(
          {block.function, group.size, point.bytes, launch, block.seconds, block.kept});
}

// Shares the time that a launch may take among what is still to be measured.
// Rank 0's opinion counts.
class Budget {
 public:
  Budget(const ProgramOptions& options, const Plan& plan)
      : seconds_(options.effort.seconds * std::max(1.0, 0.5 * plan.groups.size())),
        points_(static_cast<double>(plan.points.size()) * options.effort.rounds) {}

  double left() const { return seconds_ - static_cast<double>(now_ns() - began_) * 1e-9; }

  // For one experiment of the next point. Most need far less than their share,
  // so that a few may take more.
  double share() const {
    constexpr double kExperimentsPerPoint = 7;
    constexpr double kGenerous = 4;
    const double share = kGenerous * left() / (std::max(points_, 1.0) * kExperimentsPerPoint);
    return std::max(share, 0.0);
  }
  void point_done() { --points_; }

 private:
  std::int64_t began_ = now_ns();
  double seconds_;
  double points_;
};

// One pass over the plan; false: the time is up. Only passes after the first
// may be cut short.
bool run_pass(const Plan& plan, const Group& world, const ProgramOptions& options, int pass,
              RunnerSettings settings, Budget& budget, Buffers& buffers,
              std::vector<Sample>& samples) {
  const double longest = settings.point_seconds;
  std::size_t done = 0;
  for (const Point& point : plan.points) {
    settings.point_seconds = std::min(longest, budget.share());
    const Group& group = plan.groups[point.group];
    if (group.comm != MPI_COMM_NULL)
      measure_point(point, group, settings, buffers, options.launch, samples);
    budget.point_done();
    ++done;
    if (options.progress && world.rank == 0 && (done == plan.points.size() || done % 20 == 0))
      std::cerr << "foretrace-measure: launch " << options.launch << ", pass " << pass << " of "
                << options.effort.rounds << ", point " << done << " of " << plan.points.size()
                << '\n';
    // Also keeps those who had no part in this point from starting the next.
    int stop = pass > 1 && budget.left() < 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, world.comm);
    MPI_Barrier(world.comm);
    if (stop) return false;
  }
  return true;
}

// Several passes, each in another order, so that slow changes of the machine
// are not taken for an effect of the message size.
std::vector<Sample> run_plan(Plan& plan, const Group& world, const ProgramOptions& options,
                             RunnerSettings settings) {
  std::vector<Sample> samples;
  Buffers buffers = make_buffers(plan);
  Budget budget(options, plan);
  std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(options.launch));
  bool going = true;
  for (int pass = 1; going && pass <= options.effort.rounds; ++pass) {
    std::ranges::shuffle(plan.points, random);
    going = run_pass(plan, world, options, pass, settings, budget, buffers, samples);
    MPI_Barrier(world.comm);
    for (const ComputeBlock& block : time_compute_steps(settings.blocks))
      if (world.rank == 0)
        samples.push_back({"compute_step", 1, 0, options.launch, block.seconds, block.kept});
  }
  // All ranks at once, as programs do: they share the memory.
  MPI_Barrier(world.comm);
  for (const KernelBlock& each : time_kernels(settings.blocks, kernel_levels(find_cache_sizes())))
    if (world.rank == 0)
      samples.push_back(
          {kKernelPrefix + each.name, 1, 0, options.launch, each.block.seconds, each.block.kept});
  std::ranges::stable_sort(samples, [](const Sample& a, const Sample& b) {
    return std::tie(a.function, a.ranks, a.bytes) < std::tie(b.function, b.ranks, b.bytes);
  });
  return samples;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));
  // MPICH tells its whole configuration; the first line or clause is the name.
  version = version.substr(0, version.find_first_of("\n,"));
  std::ranges::replace(version, '\t', ' ');
  return version;
}

std::string host_name() {
  char text[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

std::string in_seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void warn(const Surroundings& surroundings) {
  if (surroundings.oversubscribed)
    std::cerr << "foretrace-measure: WARNING: there are more ranks than processor cores. The ranks "
                 "wait for each other's time slices and not for messages, so the figures say "
                 "nothing of this machine. Measure with no more ranks than cores.\n";
  if (!surroundings.common_clock)
    std::cerr << "foretrace-measure: the ranks do not share a clock (several hosts?): a barrier "
                 "starts each repetition, and times of collectives include its unevenness.\n";
}

// More ranks than cores: everything once and quickly, the figures are worth
// nothing anyway.
RunnerSettings make_settings(const ProgramOptions& options, const Surroundings& surroundings) {
  RunnerSettings settings;
  settings.surroundings = surroundings;
  settings.timer = examine_timer();
  settings.blocks = options.effort.blocks;
  if (surroundings.oversubscribed) {
    settings.blocks = 1;
    settings.repetitions = 4;
    settings.point_seconds = 0.01;
  }
  return settings;
}

int run(const std::vector<std::string>& arguments) {
  const Group world = group_of(MPI_COMM_WORLD);
  ProgramOptions options = parse_program_options(arguments);
  if (world.size < 2)
    throw UsageError("foretrace-measure needs at least 2 ranks; start it with mpirun -n 2 or more");
  const Surroundings surroundings = examine_surroundings(world.comm);
  if (surroundings.oversubscribed) options.effort.rounds = 1;
  if (world.rank == 0) warn(surroundings);
  const RunnerSettings settings = make_settings(options, surroundings);

  const Group pair = make_pair_group(world);
  long long threshold = -1;
  if (pair.comm != MPI_COMM_NULL && !surroundings.oversubscribed)
    threshold = find_sync_threshold(pair, static_cast<long long>(options.max_bytes));
  MPI_Bcast(&threshold, 1, MPI_LONG_LONG, 0, world.comm);

  Plan plan = make_plan(world, pair, options, threshold);
  SampleSet set;
  set.samples = run_plan(plan, world, options, settings);
  for (Group& group : plan.groups)
    if (group.comm != MPI_COMM_NULL) MPI_Comm_free(&group.comm);
  if (world.rank != 0) return 0;
  set.info = {{"mpi_library", mpi_library()},
              {"host", host_name()},
              {"ranks", std::to_string(world.size)},
              {"timer_resolution", in_seconds(settings.timer.resolution)},
              {"timer_overhead", in_seconds(settings.timer.overhead)},
              {"start", surroundings.common_clock ? "common clock" : "barrier"},
              {"oversubscribed", surroundings.oversubscribed ? "yes" : "no"}};
  if (threshold >= 0) set.info["sync_threshold"] = std::to_string(threshold);
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
