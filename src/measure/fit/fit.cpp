#include "measure/fit/fit.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "measure/core/functions.hpp"
#include "measure/core/hosts.hpp"
#include "measure/fit/function.hpp"
#include "measure/fit/jumps.hpp"
#include "measure/fit/loggps.hpp"
#include "measure/fit/pieces.hpp"
#include "measure/fit/rewrite.hpp"
#include "measure/fit/untouched.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

constexpr double kMicrosecond = 1e-6;
// Of a reading of the clock, in seconds, where the samples do not say; and what is so many times as
// long says something about a difference.
constexpr double kUsualOverhead = 20e-9;
constexpr double kTellingReadings = 5;

using PointKey = std::pair<int, std::uint64_t>;  // ranks, bytes

constexpr std::string_view kPointToPoint = "point-to-point";

// Of a function that the characterisation does not write, what its samples look like.
std::string class_of(const std::string& name, const std::vector<Point>& points) {
  if (const FunctionFacts* facts = facts_of(name)) return std::string(facts->function_class);
  const bool sized = std::ranges::any_of(points, [](const Point& p) { return p.bytes > 0; });
  return sized ? "collective" : "barrier";
}

double number_in(const SampleSet& set, const std::string& key, double otherwise) {
  const auto found = set.info.find(key);
  if (found == set.info.end()) return otherwise;
  double value = otherwise;
  const std::string& text = found->second;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !(value >= 0))
    throw Error("samples: '# " + key + "' must be a number, 0 or more; found '" + text + "'");
  return value;
}

std::string text_in(const SampleSet& set, const std::string& key) {
  const auto found = set.info.find(key);
  return found == set.info.end() ? std::string() : found->second;
}

FunctionReport report(const machine::MachineModel& model, const machine::Function& function,
                      const std::vector<Sample>& samples,
                      const std::vector<Observation>& observations, double negligible) {
  FunctionReport result;
  result.name = function.name;
  result.samples = samples.size();
  result.regimes = function.regimes.size();
  std::map<PointKey, std::vector<double>> points;
  for (const Observation& each : observations)
    points[{each.ranks, each.bytes}].push_back(each.time);
  result.points = points.size();
  const auto kept = std::ranges::count_if(samples, &Sample::kept);
  result.surviving = static_cast<double>(kept) / static_cast<double>(samples.size());
  for (const auto& [point, launches] : points) {
    const double middle = stats::interquartile_mean(launches) * model.time_unit;
    const double fitted = machine::evaluate_seconds(model, function, point.first,
                                                    Bytes(point.second), machine::Bound::avg);
    const double error = std::fabs(fitted - middle) / std::max(middle, negligible);
    result.mean_relative_error += error / static_cast<double>(points.size());
    if (error > result.max_relative_error || result.max_ranks == 0) {
      result.max_relative_error = error;
      result.max_ranks = point.first;
      result.max_bytes = point.second;
    }
  }
  return result;
}

// "256 4040": whole numbers with blanks between them.
std::vector<std::uint64_t> sizes_in(const SampleSet& set, const std::string& key) {
  std::vector<std::uint64_t> sizes;
  const std::string text = text_in(set, key);
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    std::uint64_t size = 0;
    const auto [next, code] = std::from_chars(at, end, size);
    if (code != std::errc() || (next != end && *next != ' '))
      throw Error("samples: '# " + key +
                  "' must be sizes in bytes with blanks between them, found '" + text + "'");
    sizes.push_back(size);
    at = next;
  }
  return sizes;
}

// Where regimes of `name` end for certain.
std::vector<std::uint64_t> thresholds_of(const SampleSet& set, const std::string& name,
                                         const std::vector<Observation>& observations,
                                         bool point_to_point) {
  std::vector<std::uint64_t> thresholds = seen_jumps(observations, sizes_in(set, "jumps_" + name));
  if (!point_to_point) return thresholds;
  for (const std::uint64_t local : sizes_in(set, "local_threshold")) thresholds.push_back(local);
  for (const std::uint64_t first : sizes_in(set, "sync_threshold"))
    if (first > 0) thresholds.push_back(first - 1);
  return thresholds;
}

constexpr std::size_t kParts = 4;

// Into how many parts the times of a single launch are taken apart, which are then left out in
// turn: as many as nine of ten points have. A part that lacked many points could not tell where it
// stands.
std::size_t parts_of(const std::map<PointKey, std::map<std::size_t, std::vector<double>>>& kept) {
  std::vector<std::size_t> counts;
  for (const auto& [point, launches] : kept)
    for (const auto& [launch, times] : launches) counts.push_back(times.size());
  if (counts.empty()) return 1;
  const auto tenth = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 10);
  std::ranges::nth_element(counts, tenth);
  return std::min(kParts, *tenth);
}

struct Observed {
  std::vector<Observation> observations;
  std::vector<Observation> blocks;  // the kept ones
  std::vector<Observation> parts;   // of a single launch
};

// The middle of each launch at each point; times in units of `unit` seconds. Of a
// point where no block was kept, the least of them.
Observed observe(const std::vector<Sample>& samples, double unit) {
  std::set<int> numbers;
  for (const Sample& sample : samples) numbers.insert(sample.launch);
  std::map<int, std::size_t> launches;
  for (const int number : numbers) launches.emplace(number, launches.size());
  std::map<PointKey, std::map<std::size_t, std::vector<double>>> kept;
  std::map<PointKey, Observation> least;
  for (const Sample& sample : samples) {
    const PointKey point{sample.ranks, sample.bytes};
    const std::size_t launch = launches.at(sample.launch);
    if (sample.kept) kept[point][launch].push_back(sample.seconds / unit);
    const Observation each{sample.ranks, sample.bytes, launch, sample.seconds / unit};
    const auto [at, fresh] = least.emplace(point, each);
    if (!fresh && each.time < at->second.time) at->second = each;
  }
  Observed out;
  const std::size_t most_parts = launches.size() == 1 ? parts_of(kept) : 1;
  for (const auto& [point, fallback] : least) {
    if (!kept.contains(point)) {
      out.observations.push_back(fallback);
      if (launches.size() == 1) out.parts.push_back(fallback);
      continue;
    }
    for (const auto& [launch, times] : kept.at(point)) {
      for (const double time : times)
        out.blocks.push_back({point.first, point.second, launch, time});
      out.observations.push_back(
          {point.first, point.second, launch, stats::interquartile_mean(times)});
      if (launches.size() > 1) continue;
      const std::size_t parts = std::min(most_parts, times.size());
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t from = part * times.size() / parts;
        const std::size_t to = (part + 1) * times.size() / parts;
        out.parts.push_back({point.first, point.second, part,
                             stats::interquartile_mean(std::span(times).subspan(from, to - from))});
      }
    }
  }
  return out;
}

void fit_parameters(const SampleSet& set,
                    const std::map<std::string, std::vector<Sample>, std::less<>>& by_function,
                    double overhead, double coverage, machine::MachineModel& model) {
  LogGPSProblem problem;
  for (const auto& [name, samples] : by_function)
    if (const FunctionFacts* facts = facts_of(name);
        facts && facts->function_class == kPointToPoint)
      problem.functions[name] = observe(samples, 1).observations;
  problem.thresholds = sizes_in(set, "local_threshold");
  problem.sync_threshold = model.loggps.sync_threshold;
  problem.negligible = overhead;
  problem.coverage = coverage;
  model.loggps_regimes = fit_loggps(problem);
  model.hop = fit_hop(problem);
  // The other parameters follow from the equations (docs/networks.md); g does not.
  if (!model.loggps_regimes.empty())
    if (const auto& gap = model.loggps_regimes.front().gap; gap && gap->separable)
      model.loggps.gap = gap->value;
}

}  // namespace

std::vector<Point> summarise(const std::vector<Sample>& samples) {
  std::map<std::pair<int, std::uint64_t>, std::vector<const Sample*>> by_point;
  for (const Sample& sample : samples) by_point[{sample.ranks, sample.bytes}].push_back(&sample);
  std::vector<Point> points;
  for (const auto& [key, all] : by_point) {
    std::map<int, std::vector<double>> by_launch;
    std::vector<double> switched;
    for (const Sample* sample : all) {
      if (sample->kept)
        by_launch[sample->launch].push_back(sample->seconds);
      else
        switched.push_back(sample->seconds);
    }
    if (by_launch.empty()) {
      // An interruption only ever adds: the least is nearest to the truth, the
      // distance to the middle tells how little that means.
      const double least = std::ranges::min(switched);
      points.push_back({key.first, key.second, least, stats::median(switched) - least});
      continue;
    }
    // Launches differ more than the blocks of one do: the launch is the unit.
    std::vector<double> medians;
    for (const auto& [launch, seconds] : by_launch) medians.push_back(stats::median(seconds));
    const std::vector<double>& unit = medians.size() > 1 ? medians : by_launch.begin()->second;
    points.push_back({key.first, key.second, stats::median(medians),
                      stats::kMadToSigma * stats::median_absolute_deviation(unit)});
  }
  return points;
}

namespace {

// Takes what was measured within a node out of the set.
SampleSet take_node(SampleSet& set) {
  const std::string_view prefix = kNodePrefix;
  SampleSet node = take_prefixed(set, prefix);
  for (const auto& [key, value] : set.info)
    if (key.starts_with(prefix))
      node.info[key.substr(prefix.size())] = value;
    else if (key.starts_with("timer_"))
      node.info.emplace(key, value);
  return node;
}

using ByFunction = std::map<std::string, std::vector<Sample>, std::less<>>;

// The points are of one kernel, by ranks.
machine::KernelTimes kernel_times(const std::vector<Point>& points) {
  machine::KernelTimes times;
  times.seconds = points.back().seconds;
  if (points.size() > 1)
    for (const Point& point : points) times.by_ranks[point.ranks] = point.seconds;
  return times;
}

void take_pieces(ByFunction& by_function, double negligible, machine::MachineModel& model) {
  std::map<std::string, std::vector<Sample>> taken;
  std::erase_if(by_function, [&](auto& entry) {
    if (!entry.first.starts_with(kPiecesPrefix)) return false;
    taken.emplace(entry.first.substr(kPiecesPrefix.size()), std::move(entry.second));
    return true;
  });
  model.pieces = pieces_of(taken, negligible);
}

// Of each class what a byte takes, in the middle over the sizes: in a cache a short call's
// beginning and end count, in a large message memory.
void take_reductions(ByFunction& by_function, machine::MachineModel& model) {
  const std::string_view prefix = kReductionPrefix;
  std::erase_if(by_function, [&](const auto& entry) {
    const auto& [name, samples] = entry;
    if (!name.starts_with(prefix)) return false;
    const auto what = machine::parse_reduction(name.substr(prefix.size()));
    if (!what) throw Error("samples: there is no reduction '" + name.substr(prefix.size()) + "'");
    std::vector<double> per_byte;
    for (const Point& point : summarise(samples))
      if (point.bytes > 0) per_byte.push_back(point.seconds / static_cast<double>(point.bytes));
    if (!per_byte.empty()) model.reductions[*what] = stats::median(per_byte);
    return true;
  });
  // The file cannot do without what stands in for others.
  if (!model.reductions.contains(machine::Reduction::sum_double)) model.reductions.clear();
}

FitOutcome fit_path(const SampleSet& set, const FitSettings& settings) {
  FitOutcome outcome;
  machine::MachineModel& model = outcome.model;
  model.time_unit = kMicrosecond;
  model.element = Bytes(1);
  model.mpi_library = text_in(set, "mpi_library");
  model.timer_resolution = number_in(set, "timer_resolution", 0);
  const double overhead = number_in(set, "timer_overhead", kUsualOverhead);
  if (set.info.contains("sync_threshold"))
    model.loggps.sync_threshold =
        Bytes(static_cast<std::uint64_t>(number_in(set, "sync_threshold", 0)));
  if (set.info.contains("local_threshold"))
    model.loggps.attended_from =
        Bytes(static_cast<std::uint64_t>(number_in(set, "local_threshold", 0)) + 1);

  ByFunction by_function;
  for (const Sample& sample : set.samples) by_function[sample.function].push_back(sample);
  if (const auto steps = by_function.find(kComputeStep); steps != by_function.end()) {
    model.compute_step = summarise(steps->second).front().seconds;
    by_function.erase(steps);
  }
  const std::string_view kernel = kKernelPrefix;
  std::erase_if(by_function, [&](const auto& entry) {
    const auto& [name, samples] = entry;
    if (!name.starts_with(kernel) || name.size() == kernel.size()) return false;
    outcome.costs.kernels[name.substr(kernel.size())] = kernel_times(summarise(samples));
    return true;
  });
  take_reductions(by_function, model);
  std::erase_if(by_function, [&](const auto& entry) {
    const auto& [name, samples] = entry;
    if (!name.starts_with(kRewritePrefix)) return false;
    auto times = rewrite_times(samples, kTellingReadings * overhead);
    if (!times.empty()) model.rewrite[name.substr(kRewritePrefix.size())] = std::move(times);
    return true;
  });
  take_pieces(by_function, kTellingReadings * overhead, model);
  if (by_function.empty()) throw Error("samples: no MPI function was measured; measure again");
  for (const auto& [name, samples] : by_function) {
    const std::vector<Point> points = summarise(samples);
    for (const Point& point : points) model.ranks = std::max(model.ranks, point.ranks);
    const std::string function_class = class_of(name, points);
    FunctionProblem problem;
    Observed observed = observe(samples, kMicrosecond);
    problem.observations = std::move(observed.observations);
    problem.parts = std::move(observed.parts);
    problem.blocks = std::move(observed.blocks);
    problem.by_ranks = function_class != kPointToPoint && function_class != "one-sided";
    problem.thresholds =
        thresholds_of(set, name, problem.observations, function_class == kPointToPoint);
    problem.negligible = overhead / kMicrosecond;
    problem.coverage = settings.coverage;
    machine::Function function = fit_function(problem);
    function.name = name;
    function.function_class = function_class;
    outcome.reports.push_back(report(model, function, samples, problem.observations, overhead));
    model.functions.emplace(name, std::move(function));
  }
  fit_parameters(set, by_function, overhead, settings.coverage, model);
  return outcome;
}

}  // namespace

FitOutcome fit_model(const SampleSet& set, const FitSettings& settings) {
  SampleSet outer = set;
  SampleSet untouched = take_prefixed(outer, kUntouchedPrefix);
  const SampleSet node = take_node(outer);
  const SampleSet untouched_node = take_node(untouched);
  const double negligible = kTellingReadings * number_in(set, "timer_overhead", kUsualOverhead);
  FitOutcome outcome = fit_path(outer, settings);
  set_untouched(untouched, outer, negligible, outcome.model.functions);
  if (node.samples.empty()) return outcome;
  FitOutcome inner = fit_path(node, settings);
  set_untouched(untouched_node, node, negligible, inner.model.functions);
  for (FunctionReport& report : inner.reports) {
    report.name = kNodePrefix + report.name;
    outcome.reports.push_back(std::move(report));
  }
  outcome.model.paths[machine::Path::node] = std::move(inner.model);
  return outcome;
}

}  // namespace foretrace::measure
