#include "measure/experiments/launch_run.hpp"

#include <unistd.h>

#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <tuple>

#include "measure/experiments/compute_step.hpp"
#include "measure/experiments/conditions.hpp"
#include "measure/experiments/kernels.hpp"
#include "measure/experiments/places.hpp"
#include "measure/experiments/reductions.hpp"
#include "measure/experiments/standstill.hpp"

namespace foretrace::measure {
namespace {

// What rank 0 tells all others after each point.
enum class Next : int { go_on, measure_clocks, stop };

// Drift makes a common clock wrong by about a microsecond in this time.
constexpr std::int64_t kClockInterval = 100'000'000;
// Of a launch's time, what the search for jumps may take: the first, and one after others.
constexpr double kSearchShare = 0.3;
constexpr double kSearchAgainShare = 0.15;
// The last point of the first pass begins before this share of the time.
constexpr double kBend = 1.4;

// Larger than the caches, as far as the host's memory allows: an eighth of it
// for all of its ranks.
std::uint64_t pool_bytes(MPI_Comm world) {
  constexpr std::uint64_t kPool = 256 << 20;
  MPI_Comm host;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 1;
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  struct sysinfo facts {};
  if (::sysinfo(&facts) != 0) return kPool;
  const std::uint64_t memory = static_cast<std::uint64_t>(facts.totalram) * facts.mem_unit;
  return std::min(kPool, memory / 8 / static_cast<std::uint64_t>(ranks));
}

// A barrier. Who waits quietly leaves core and memory to those that are still at work.
void wait_for_all(MPI_Comm comm, bool quietly) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  for (;;) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (quietly) ::usleep(200);
  }
}

}  // namespace

double LaunchRun::left() const {
  return options_.effort.seconds - 1e-9 * static_cast<double>(now_ns() - began_);
}

void LaunchRun::show_progress(double share) {
  if (options_.progress.empty() || world_.rank != 0) return;
  const std::int64_t now = now_ns();
  if (share < 1 && now - shown_ < 300'000'000) return;
  shown_ = now;
  // Who wants to know made the file, and takes it away when it has heard enough.
  std::FILE* file = std::fopen(options_.progress.c_str(), "r+");
  if (file == nullptr) return;
  std::fprintf(file, "%.3f\n", share);
  std::fclose(file);
}

// The time that is left is shared among what is still to be measured. Most
// experiments need far less than their share, so that a few may take more.
void LaunchRun::measure_point(const PlanPoint& point) {
  constexpr double kGenerous = 4;
  const auto& [group, scope, ranks, prefix] = plan_.groups[point.group];
  RunnerSettings settings = settings_;
  begin_heap_anew(point.bytes);
  buffers_->move(point.bytes, random_());
  const std::vector<Experiment> experiments = experiments_of(plan_, point, *buffers_);
  const double visits = std::max(visits_left_, 1.0) *
                        static_cast<double>(std::max<std::size_t>(experiments.size(), 1));
  settings.point_seconds = std::clamp(kGenerous * left() / visits, 0.0, settings_.point_seconds);
  for (const Experiment& experiment : experiments)
    for (const bool untouched : {false, true}) {
      if (untouched && !point.untouched) continue;
      buffers_->leave_untouched(untouched);
      begin_work(prefix + experiment.functions.front() + ", " + std::to_string(point.bytes) +
                 " bytes, " + std::to_string(ranks) + " ranks");
      for (const Block& block : run_experiment(experiment, group, settings))
        samples_.push_back({(untouched ? kUntouchedPrefix : "") + prefix + block.function, ranks,
                            point.bytes, options_.launch, block.seconds, block.kept});
    }
  buffers_->leave_untouched(false);
}

// The state that the machine is in; 0: not known. Collective.
double LaunchRun::cache_line() {
  return settings_.oversubscribed ? 0 : watch_.times_shortly();
}

// One pass over the points; false: the time is up. The first pass may take
// longer than others.
bool LaunchRun::run_pass(const std::vector<PlanPoint>& points, bool may_stop) {
  const double latest = may_stop ? 0 : options_.effort.seconds * (1 - kBend);
  double before = cache_line();
  for (const PlanPoint& point : points) {
    const std::size_t first = samples_.size();
    at_work();
    if (plan_.groups[point.group].group.comm != MPI_COMM_NULL) measure_point(point);
    --visits_left_;
    show_progress(1 - std::max(visits_left_, 0.0) / visits_);
    // Also keeps those who had no part in this point from starting the next.
    Next next = Next::go_on;
    if (left() < latest)
      next = Next::stop;
    else if (clock_.several_hosts() && now_ns() - clock_measured_ > kClockInterval)
      next = Next::measure_clocks;
    MPI_Bcast(&next, sizeof next, MPI_BYTE, 0, world_.comm);
    MPI_Barrier(world_.comm);
    const double after = cache_line();
    // Where the state changed the mean lies between both, mostly outside of either.
    for (std::size_t i = first; i < samples_.size(); ++i)
      samples_[i].cache_line = std::sqrt(before * after);
    before = after;
    if (next == Next::stop) return false;
    if (next == Next::measure_clocks) {
      clock_.measure();
      clock_measured_ = now_ns();
    }
  }
  return true;
}

// Finds the jumps and measures both sides of them. All ranks learn the sizes.
void LaunchRun::search_jumps(const PlanSizes& sizes, const std::set<std::uint64_t>& suspected,
                             Result& result) {
  RunnerSettings settings = settings_;
  settings.blocks = 3;
  settings.point_seconds = std::min(settings.point_seconds, 0.05);
  const double share = options_.thresholds ? kSearchAgainShare : kSearchShare;
  const JumpSearch search{static_cast<std::int64_t>(sizes.max_bytes),
                          share * options_.effort.seconds, suspected};
  begin_work("the search for jumps");
  clock_.measure();
  result.jumps = find_jumps(plan_, world_, settings, *buffers_, samples_, search);
  std::set<std::uint64_t> all;
  for (const auto& [function, found] : result.jumps) {
    all.insert(found.jumps.begin(), found.jumps.end());
    all.insert(found.between.begin(), found.between.end());
  }
  std::vector<std::uint64_t> list(all.begin(), all.end());
  int count = static_cast<int>(list.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, world_.comm);
  list.resize(static_cast<std::size_t>(count));
  MPI_Bcast(list.data(), count, MPI_UINT64_T, 0, world_.comm);
  PlanSizes more = sizes;
  more.thresholds.insert(list.begin(), list.end());
  const auto added = added_points(plan_, sizes, more);
  visits_ += static_cast<double>(added.size()) * options_.effort.rounds;
  visits_left_ += static_cast<double>(added.size()) * options_.effort.rounds;
  run_pass(added, false);
  plan_.points.insert(plan_.points.end(), added.begin(), added.end());
}

// Kernels on 1, 2, 4 and so on of each host's ranks, up to all that have a core: they share the
// memory. Those that have none take no part.
void LaunchRun::time_kernels_by_ranks() {
  const auto on_host = static_cast<int>(std::ranges::count(hosts_, hosts_.front()));
  int all = std::clamp(static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), 1, on_host);
  MPI_Bcast(&all, 1, MPI_INT, 0, world_.comm);
  const auto own = hosts_.begin() + world_.rank;
  const auto place = static_cast<int>(std::count(hosts_.begin(), own, *own));
  MPI_Comm comm;
  MPI_Comm_split(world_.comm, place < all ? *own : MPI_UNDEFINED, world_.rank, &comm);
  if (comm != MPI_COMM_NULL) {
    Company company;
    for (int ranks = 1; ranks < all; ranks *= 2) company.counts.push_back(ranks);
    company.counts.push_back(all);
    company.begin = [&](int count) {
      MPI_Barrier(comm);
      return place < count;
    };
    // Who computed stays awake: a core that slept begins slowly.
    company.end = [&](bool computed) { wait_for_all(comm, !computed); };
    for (const KernelBlock& each :
         time_kernels(settings_.blocks, kernel_levels(find_cache_sizes()), company))
      samples_.push_back({kKernelPrefix + each.name, each.ranks, 0, options_.launch,
                          each.block.seconds, each.block.kept});
    MPI_Comm_free(&comm);
  }
  wait_for_all(world_.comm, true);
}

// All ranks at once, as programs compute.
void LaunchRun::time_computation() {
  begin_work("the kernels");
  MPI_Barrier(world_.comm);
  for (const ComputeBlock& block : time_compute_steps(settings_.blocks))
    samples_.push_back({kComputeStep, 1, 0, options_.launch, block.seconds, block.kept});
  at_work();
  time_kernels_by_ranks();
  at_work();
  for (const ReductionBlock& each : time_reductions(settings_.blocks))
    samples_.push_back({kReductionPrefix + machine::name_of(each.what), 1, each.bytes,
                        options_.launch, each.block.seconds, each.block.kept});
}

// Takes the points of secondary functions and of long messages out of the plan: they are visited
// once, after the main ones, so that a launch whose time is short does without them.
std::vector<PlanPoint> LaunchRun::take_others() {
  const auto others = std::ranges::stable_partition(plan_.points, [&](const PlanPoint& point) {
    return plan_.families[point.family].main && !point.is_long && !point.untouched;
  });
  std::vector<PlanPoint> taken(others.begin(), others.end());
  plan_.points.erase(others.begin(), others.end());
  return taken;
}

// Beside the samples, or where temporary files are. Without one the launch goes
// on without the file functions.
ScratchFile LaunchRun::find_scratch_file() const {
  const std::string beside = std::filesystem::path(options_.output).parent_path().string();
  const char* temporary = std::getenv("TMPDIR");
  const std::uint64_t bytes = std::min(kMostFileBytes, options_.max_bytes);
  ScratchFile file = make_scratch_file(
      world_, {beside.empty() ? "." : beside, temporary ? temporary : "/tmp"}, bytes);
  if (file.path.empty() && world_.rank == 0)
    std::cerr << "foretrace-measure: the file functions are not measured: " << file.reason
              << ". Set TMPDIR to a folder that all ranks can write to\n";
  return file;
}

Facilities LaunchRun::find_facilities(const ScratchFile& scratch) const {
  const bool windows = has_windows(world_);
  if (!windows && world_.rank == 0)
    std::cerr << "foretrace-measure: one-sided communication is not measured: this MPI makes no "
                 "windows on these ranks\n";
  return {scratch.path, windows, std::ranges::count(hosts_, hosts_.front()) < world_.size};
}

// Several passes, each in another random order, so that slow changes of the
// machine are not taken for an effect of the message size.
LaunchRun::Result LaunchRun::run(const std::set<std::uint64_t>& known) {
  const auto seed = options_.seed + static_cast<std::uint64_t>(options_.launch);
  const auto heap = take_some_heap(seed);
  // Growing, they would change the heap of rank 0 alone; untouched pages cost nothing.
  constexpr std::size_t kMostSamples = 1 << 20;
  if (world_.rank == 0) samples_.reserve(kMostSamples);
  PlanSizes sizes{options_.max_bytes, options_.long_bytes, options_.effort.per_octave, known};
  if (options_.thresholds)
    for (const std::uint64_t last : *options_.thresholds)
      if (last < options_.max_bytes) sizes.thresholds.insert(last);
  const ScratchFile scratch = settings_.oversubscribed ? ScratchFile{} : find_scratch_file();
  plan_ = make_plan(world_, hosts_, sizes, find_facilities(scratch));
  Buffers buffers(options_.cold ? BufferChoice::cold : BufferChoice::warm,
                  largest_buffer(plan_, world_.size), pool_bytes(world_.comm));
  buffers_ = &buffers;
  std::vector<PlanPoint> others = take_others();
  if (options_.cold) std::erase_if(others, &PlanPoint::untouched);
  if (settings_.oversubscribed) others.clear();
  visits_ = visits_left_ = static_cast<double>(plan_.points.size()) * options_.effort.rounds +
                           static_cast<double>(others.size());
  random_.seed(seed + (static_cast<std::uint64_t>(world_.rank) << 32));
  std::mt19937_64 random(seed);
  Result result;
  bool going = true;
  for (int pass = 1; going && pass <= options_.effort.rounds; ++pass) {
    std::ranges::shuffle(plan_.points, random);
    // Should the time not suffice for all, at least every function is there.
    if (pass == 1)
      std::ranges::stable_partition(plan_.points, [this](const PlanPoint& point) {
        return plan_.families[point.family].sizes == Sizes::none;
      });
    going = run_pass(plan_.points, pass > 1);
    if (pass == 1) {
      result.complete = going;
      time_computation();
      const bool search = !options_.thresholds || options_.search;
      if (going && search && !settings_.oversubscribed) search_jumps(sizes, known, result);
      std::ranges::shuffle(others, random);
      // Many programs send such data; few call what is secondary.
      std::ranges::stable_partition(others, &PlanPoint::untouched);
      result.all_functions = going && run_pass(others, false);
    }
  }
  begin_work("the end of the measurement");
  show_progress(1);
  std::ranges::stable_sort(samples_, [](const Sample& a, const Sample& b) {
    return std::tie(a.function, a.ranks, a.bytes) < std::tie(b.function, b.ranks, b.bytes);
  });
  free_groups(plan_);
  remove_scratch_file(world_, scratch);
  result.samples = std::move(samples_);
  return result;
}

}  // namespace foretrace::measure
