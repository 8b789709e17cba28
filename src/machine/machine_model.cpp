#include "machine/machine_model.hpp"

#include <algorithm>

namespace foretrace::machine {
namespace {

// Measured between two ranks, whatever others there are.
bool is_between_two(const Function& function) {
  return function.function_class == "point-to-point" || function.function_class == "one-sided";
}

double equation_seconds(const MachineModel& model, const std::vector<Regime>& regimes, int ranks,
                        Bytes bytes, Bound bound) {
  const double data = static_cast<double>(bytes.count) / static_cast<double>(model.element.count);
  return model.time_unit * regime_for(regimes, bytes).equation.evaluate(ranks, data, bound);
}

}  // namespace

const Function* MachineModel::find(std::string_view name) const {
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

std::vector<std::string> unreliable_functions(const MachineModel& model) {
  constexpr double kMostError = 0.5;
  std::vector<std::string> names;
  for (const auto& [name, function] : model.functions)
    if (function.held_out && function.held_out->mean > kMostError) names.push_back(name);
  return names;
}

const Regime& regime_for(const std::vector<Regime>& regimes, Bytes bytes) {
  const auto found =
      std::ranges::find_if(regimes, [bytes](const Regime& regime) { return bytes <= regime.to; });
  return found == regimes.end() ? regimes.back() : *found;
}

const Regime& regime_for(const Function& function, Bytes bytes) {
  return regime_for(function.regimes, bytes);
}

Beyond beyond_measured(const MachineModel& model, const Function& function, int ranks,
                       Bytes bytes) {
  const bool any_ranks = is_between_two(function);
  if (const auto& measured = function.measured)
    return {!any_ranks && (ranks < measured->ranks.front() || ranks > measured->ranks.back()),
            bytes < measured->from || bytes > measured->to};
  return {!any_ranks && model.ranks > 0 && ranks > model.ranks,
          bytes < function.regimes.front().from || bytes > function.regimes.back().to};
}

double evaluate_seconds(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                        Bound bound) {
  const double seconds = equation_seconds(model, function.regimes, ranks, bytes, bound);
  if (bound == Bound::avg || !function.extrapolation_error ||
      !beyond_measured(model, function, ranks, bytes).ranks)
    return seconds;
  const double middle = equation_seconds(model, function.regimes, ranks, bytes, Bound::avg);
  const double factor = 1 + *function.extrapolation_error;
  return bound == Bound::min ? std::min(seconds, middle / factor)
                             : std::max(seconds, middle * factor);
}

double evaluate_baseline_seconds(const MachineModel& model, const Function& function, int ranks,
                                 Bytes bytes, Bound bound) {
  return equation_seconds(model, function.baseline, ranks, bytes, bound);
}

}  // namespace foretrace::machine
