#include "measure/fit/launch_factors.hpp"

#include <map>
#include <string_view>
#include <tuple>

#include "measure/core/hosts.hpp"
#include "measure/experiments/kernels.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

struct Mean {
  double sum = 0;
  int count = 0;
};

struct Ratios {
  std::vector<double> calls, computation;
};

// The model's seconds for what the sample measures; 0: it has none that is to be trusted.
double told(const FitOutcome& outcome, std::string_view name, int ranks, std::uint64_t bytes) {
  const machine::PathModel* path = &outcome.model;
  if (name.starts_with(kNodePrefix)) {
    const auto inner = outcome.model.paths.find(machine::Path::node);
    if (inner == outcome.model.paths.end()) return 0;
    path = &inner->second;
    name.remove_prefix(std::string_view(kNodePrefix).size());
  }
  const auto function = path->functions.find(name);
  if (function == path->functions.end() || machine::is_unreliable(function->second)) return 0;
  return machine::evaluate_seconds(outcome.model, function->second, ranks, Bytes(bytes),
                                   machine::Bound::avg);
}

}  // namespace

std::vector<machine::LaunchFactors> launch_factors(const std::vector<Sample>& samples,
                                                   const FitOutcome& outcome) {
  using Point = std::tuple<int, std::string_view, int, std::uint64_t>;  // of a launch
  std::map<Point, Mean> means;
  for (const Sample& sample : samples) {
    Mean& mean = means[{sample.launch, sample.function, sample.ranks, sample.bytes}];
    mean.sum += sample.seconds;
    ++mean.count;
  }
  std::map<int, Ratios> by_launch;
  for (const auto& [point, mean] : means) {
    const auto& [launch, name, ranks, bytes] = point;
    const double seconds = mean.sum / mean.count;
    Ratios& ratios = by_launch[launch];
    constexpr std::string_view kKernel = kKernelPrefix;
    if (name.starts_with(kKernel)) {
      const auto kernel = outcome.costs.kernels.find(name.substr(kKernel.size()));
      if (kernel != outcome.costs.kernels.end() && kernel->second > 0)
        ratios.computation.push_back(seconds / kernel->second);
    } else if (const double time = told(outcome, name, ranks, bytes); time > 0) {
      ratios.calls.push_back(seconds / time);
    }
  }
  std::vector<machine::LaunchFactors> factors;
  for (const auto& [launch, ratios] : by_launch) {
    if (ratios.calls.empty()) continue;
    factors.push_back({stats::median(ratios.calls),
                       ratios.computation.empty() ? 1 : stats::median(ratios.computation)});
  }
  return factors;
}

}  // namespace foretrace::measure
