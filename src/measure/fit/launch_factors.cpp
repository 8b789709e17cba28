#include "measure/fit/launch_factors.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "measure/core/hosts.hpp"
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

// The model's function for what a sample measures; nullptr: it has none that is to be trusted.
template <class Model>
auto* trusted_function(Model& model, std::string_view name) {
  auto* functions = &model.functions;
  if (name.starts_with(kNodePrefix)) {
    const auto inner = model.paths.find(machine::Path::node);
    functions = inner == model.paths.end() ? nullptr : &inner->second.functions;
    name.remove_prefix(std::string_view(kNodePrefix).size());
  }
  using Found = decltype(&functions->begin()->second);
  if (functions == nullptr) return Found{};
  const auto found = functions->find(name);
  if (found == functions->end() || machine::is_unreliable(found->second)) return Found{};
  return &found->second;
}

double seconds_of(const machine::MachineModel& model, const machine::Function& function, int ranks,
                  std::uint64_t bytes) {
  return machine::evaluate_seconds(model, function, ranks, Bytes(bytes), machine::Bound::avg);
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
      if (kernel == outcome.costs.kernels.end()) continue;
      const double usual = machine::kernel_seconds(kernel->second, ranks);
      if (usual > 0) ratios.computation.push_back(seconds / usual);
    } else if (const auto* function = trusted_function(outcome.model, name)) {
      const double time = seconds_of(outcome.model, *function, ranks, bytes);
      if (time > 0) ratios.calls.push_back(seconds / time);
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

void add_other_state(const std::vector<Sample>& others, std::size_t used,
                     machine::MachineModel& model) {
  constexpr std::size_t kEnough = 3;
  if (others.empty()) return;
  model.other_state_share =
      static_cast<double>(others.size()) / static_cast<double>(others.size() + used);
  using Point = std::tuple<std::string_view, int, std::uint64_t>;
  std::map<Point, std::vector<double>> points;
  for (const Sample& sample : others)
    if (sample.kept)
      points[{sample.function, sample.ranks, sample.bytes}].push_back(sample.seconds);
  std::map<machine::Function*, std::vector<std::pair<Bytes, double>>> multiples;
  for (const auto& [point, seconds] : points) {
    const auto& [name, ranks, bytes] = point;
    machine::Function* const function = trusted_function(model, name);
    if (function == nullptr || seconds.size() < kEnough) continue;
    const double time = seconds_of(model, *function, ranks, bytes);
    const double middle = stats::median(seconds);
    if (time > 0 && middle > 0) multiples[function].emplace_back(Bytes(bytes), middle / time);
  }
  for (const auto& [function, all] : multiples) {
    for (machine::Regime& regime : function->regimes) {
      std::vector<double> own, any;
      for (const auto& [bytes, multiple] : all) {
        any.push_back(multiple);
        if (&machine::regime_for(*function, bytes) == &regime) own.push_back(multiple);
      }
      if (own.empty()) own = any;
      regime.other_state = stats::median(own);
    }
  }
}

}  // namespace foretrace::measure
