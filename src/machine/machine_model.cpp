#include "machine/machine_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

namespace foretrace::machine {
namespace {

// How many ranks a program has is nothing to it: two were measured, or one.
bool is_for_any_ranks(const Function& function) {
  const std::string& kind = function.function_class;
  return kind == "point-to-point" || kind == "one-sided" || kind == "local";
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

bool is_unreliable(const Function& function) {
  constexpr double kMostError = 0.5;
  return !function.valid || (function.held_out && function.held_out->mean > kMostError);
}

std::vector<std::string> unreliable_functions(const MachineModel& model) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& prefix, const Functions& functions) {
    for (const auto& [name, function] : functions)
      if (is_unreliable(function)) names.push_back(prefix + name);
  };
  add("", model.functions);
  for (const auto& [path, own] : model.paths) add(std::string(name_of(path)) + "/", own.functions);
  return names;
}

std::string why_unreliable(const Function& function) {
  if (!function.valid) return "disturbed nearly all the time";
  const double mean = function.held_out ? function.held_out->mean : 0;
  return "off by " + std::to_string(std::lround(100 * mean)) + " % at sizes that were left out";
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
  const bool any_ranks = is_for_any_ranks(function);
  if (const auto& measured = function.measured)
    return {!any_ranks && (ranks < measured->ranks.front() || ranks > measured->ranks.back()),
            bytes < measured->from || bytes > measured->to};
  return {!any_ranks && model.ranks > 0 && ranks > model.ranks,
          bytes < function.regimes.front().from || bytes > function.regimes.back().to};
}

double untouched_factor(const Function& function, Bytes bytes) {
  return factor_at(function.untouched, bytes);
}

double correction_factor(const Function& function, int ranks, Bytes bytes) {
  return factor_at(function.corrections, ranks, bytes);
}

double evaluate_seconds(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                        Bound bound) {
  const double factor = correction_factor(function, ranks, bytes) *
                        (function.of_untouched ? untouched_factor(function, bytes) : 1);
  const double seconds = factor * equation_seconds(model, function.regimes, ranks, bytes, bound);
  if (bound == Bound::avg || !function.extrapolation_error ||
      !beyond_measured(model, function, ranks, bytes).ranks)
    return seconds;
  const double middle =
      factor * equation_seconds(model, function.regimes, ranks, bytes, Bound::avg);
  const double error = 1 + *function.extrapolation_error;
  return bound == Bound::min ? std::min(seconds, middle / error)
                             : std::max(seconds, middle * error);
}

bool is_below_zero(const MachineModel& model, const Function& function, int ranks, Bytes bytes) {
  const double data = static_cast<double>(bytes.count) / static_cast<double>(model.element.count);
  return regime_for(function.regimes, bytes).equation.is_below_zero(ranks, data);
}

double least_between_factors(const MachineModel& model, const Function& function, int ranks,
                             Bound bound) {
  double least = std::numeric_limits<double>::infinity();
  const auto& untouched = function.untouched;
  const bool looks_there = function.of_untouched && !untouched.empty();
  if (function.corrections.empty() && !looks_there) return least;
  std::set<Bytes> sizes{Bytes(0)};
  for (const Regime& regime : function.regimes) {
    sizes.insert(regime.to);
    if (regime.to.count < UINT64_MAX) sizes.insert(Bytes(regime.to.count + 1));
  }
  for (const Correction& row : function.corrections)
    for (const SizeFactor& each : row.factors) sizes.insert(each.bytes);
  if (looks_there)
    for (const SizeFactor& each : untouched) sizes.insert(each.bytes);
  const auto equation = [&](Bytes bytes) {
    return equation_seconds(model, function.regimes, ranks, bytes, bound);
  };
  const auto factor = [&](Bytes bytes) {
    return correction_factor(function, ranks, bytes) *
           (looks_there ? untouched_factor(function, bytes) : 1);
  };
  for (auto to = std::next(sizes.begin()); to != sizes.end(); ++to) {
    const Bytes from = *std::prev(to);
    least = std::min(least,
                     std::min(equation(from), equation(*to)) * std::min(factor(from), factor(*to)));
  }
  return least;
}

void add_seconds(const MachineModel& model, Function& function, double more) {
  for (Correction& row : function.corrections)
    for (SizeFactor& each : row.factors) {
      const double equation =
          equation_seconds(model, function.regimes, row.ranks, each.bytes, Bound::avg);
      if (equation + more > 0) each.factor = (equation * each.factor + more) / (equation + more);
    }
  for (Regime& regime : function.regimes) regime.equation.add(more / model.time_unit);
}

double evaluate_baseline_seconds(const MachineModel& model, const Function& function, int ranks,
                                 Bytes bytes, Bound bound) {
  return equation_seconds(model, function.baseline, ranks, bytes, bound);
}

}  // namespace foretrace::machine
