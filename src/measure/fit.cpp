#include "measure/fit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "measure/kernels.hpp"
#include "measure/regimes.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr std::string_view kComputeStep = "compute_step";

constexpr std::array<std::string_view, 12> kPointToPoint{
    "send",         "ssend",  "recv",   "recvmin",      "isend1",   "isend2",
    "isendoverlap", "irecv1", "irecv2", "irecvoverlap", "sendrecv", "pingpong"};

bool is_point_to_point(std::string_view name) {
  return std::ranges::find(kPointToPoint, name) != kPointToPoint.end();
}

std::string class_of(std::string_view name, const std::vector<Point>& points) {
  if (is_point_to_point(name)) return "point-to-point";
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
                      const std::vector<Sample>& samples, const std::vector<Point>& points,
                      double negligible) {
  FunctionReport result;
  result.name = function.name;
  result.samples = samples.size();
  result.points = points.size();
  const auto kept = std::ranges::count_if(samples, &Sample::kept);
  result.surviving = static_cast<double>(kept) / static_cast<double>(samples.size());
  for (const Point& point : points) {
    const double fitted = machine::evaluate_seconds(model, function, point.ranks,
                                                    Bytes(point.bytes), machine::Bound::avg);
    const double error = std::fabs(fitted - point.seconds) / std::max(point.seconds, negligible);
    result.mean_relative_error += error / static_cast<double>(points.size());
    if (error > result.max_relative_error || result.max_ranks == 0) {
      result.max_relative_error = error;
      result.max_ranks = point.ranks;
      result.max_bytes = point.bytes;
    }
  }
  return result;
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

machine::Function fit_function(const std::string& name, const std::vector<Point>& points,
                               double timer_overhead, const FitSettings& settings) {
  if (points.empty()) throw Error("samples: '" + name + "' has none");
  machine::Function function;
  function.name = name;
  function.function_class = class_of(name, points);

  RegimeProblem problem;
  problem.by_ranks = !is_point_to_point(name);
  problem.least_sizes = settings.least_sizes;
  for (const Point& point : points) {
    // A clock reading is told apart from the next to about a tenth of what it
    // costs.
    const double sigma = std::max(
        {point.spread, settings.least_relative_error * point.seconds, 0.1 * timer_overhead, 1e-12});
    problem.points.push_back({static_cast<double>(point.ranks), point.bytes,
                              point.seconds / kMicrosecond, sigma / kMicrosecond});
  }
  function.regimes = settings.boundaries ? fit_given_regimes(problem, *settings.boundaries)
                                         : fit_best_regimes(problem, settings.most_regimes);
  return function;
}

FitOutcome fit_model(const SampleSet& set, const FitSettings& settings) {
  FitOutcome outcome;
  machine::MachineModel& model = outcome.model;
  model.time_unit = kMicrosecond;
  model.element = Bytes(1);
  model.mpi_library = text_in(set, "mpi_library");
  model.timer_resolution = number_in(set, "timer_resolution", 0);
  const double overhead = number_in(set, "timer_overhead", 20e-9);
  if (set.info.contains("sync_threshold"))
    model.loggps.sync_threshold =
        Bytes(static_cast<std::uint64_t>(number_in(set, "sync_threshold", 0)));

  std::map<std::string, std::vector<Sample>, std::less<>> by_function;
  for (const Sample& sample : set.samples) by_function[sample.function].push_back(sample);
  if (const auto steps = by_function.find(kComputeStep); steps != by_function.end()) {
    model.compute_step = summarise(steps->second).front().seconds;
    by_function.erase(steps);
  }
  const std::string_view kernel = kKernelPrefix;
  std::erase_if(by_function, [&](const auto& entry) {
    const auto& [name, samples] = entry;
    if (!name.starts_with(kernel) || name.size() == kernel.size()) return false;
    outcome.costs.kernels[name.substr(kernel.size())] = summarise(samples).front().seconds;
    return true;
  });
  if (by_function.empty()) throw Error("samples: no MPI function was measured; measure again");
  for (const auto& [name, samples] : by_function) {
    const std::vector<Point> points = summarise(samples);
    for (const Point& point : points) model.ranks = std::max(model.ranks, point.ranks);
    const machine::Function& function =
        model.functions.emplace(name, fit_function(name, points, overhead, settings)).first->second;
    outcome.reports.push_back(report(model, function, samples, points, overhead));
  }
  return outcome;
}

}  // namespace foretrace::measure
