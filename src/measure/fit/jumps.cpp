#include "measure/fit/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

constexpr double kLeastSeen = 0.04;
constexpr double kLeastKept = 0.02;
// That all steps which nobody proposed and which are none are told to be none.
constexpr double kCertainty = 0.95;
constexpr std::size_t kLaunches = 3;  // fewer decide nothing

// A median's standard error over a mean's, of normal values.
constexpr double kMedian = 1.2533;

using Curve = std::map<std::uint64_t, std::map<std::size_t, double>>;  // bytes, launch: time

// What the launches say of the step between two sizes.
struct Step {
  double size = 0;   // the middle of the ratios' logarithms, without sign
  double error = 0;  // standard error
  std::size_t launches = 0;
};

Step step_between(const std::map<std::size_t, double>& below,
                  const std::map<std::size_t, double>& above) {
  std::vector<double> ratios;
  for (const auto& [launch, time] : below)
    if (const auto other = above.find(launch);
        other != above.end() && time > 0 && other->second > 0)
      ratios.push_back(std::log(other->second / time));
  if (ratios.empty()) return {};
  return {
      std::fabs(stats::median(ratios)),
      kMedian * stats::standard_deviation(ratios) / std::sqrt(static_cast<double>(ratios.size())),
      ratios.size()};
}

using Steps = std::vector<std::pair<std::uint64_t, Step>>;  // by the size below

// How large a step that is none may look. Of hundreds a handful is far from none (Bonferroni), and
// the few launches of one can agree by chance: no error is below what is usual.
class Chance {
 public:
  explicit Chance(const Steps& steps) {
    if (steps.empty()) return;
    std::vector<double> errors;
    double degrees = 0;
    for (const auto& [last, step] : steps) {
      errors.push_back(step.error);
      degrees += static_cast<double>(step.launches - 1);
    }
    usual_ = stats::median(errors);
    errors_ = stats::student(1 - (1 - kCertainty) / static_cast<double>(steps.size()), degrees);
  }
  double largest(const Step& step) const { return errors_ * std::max(step.error, usual_); }

 private:
  double usual_ = 0;
  double errors_ = 0;
};

bool are_neighbours(std::uint64_t below, std::uint64_t above) {
  return below > 0 && above - below <= std::min<std::uint64_t>(8, below / 8);
}

}  // namespace

std::vector<std::uint64_t> seen_jumps(const std::vector<Observation>& observations,
                                      const std::vector<std::uint64_t>& proposed) {
  std::map<int, Curve> curves;
  for (const Observation& each : observations)
    curves[each.ranks][each.bytes][each.launch] = each.time;
  Steps steps;  // that enough launches measured
  for (const auto& [ranks, curve] : curves)
    for (auto below = curve.begin(); below != curve.end(); ++below) {
      const auto above = std::next(below);
      if (above == curve.end() || !are_neighbours(below->first, above->first)) continue;
      const Step step = step_between(below->second, above->second);
      if (step.launches >= kLaunches) steps.emplace_back(below->first, step);
    }
  const Chance chance(steps);
  std::set<std::uint64_t> seen;
  std::map<std::uint64_t, double> largest;
  for (const auto& [last, step] : steps) {
    double& most = largest[last];
    most = std::max(most, step.size);
    if (step.size > std::max(std::log1p(kLeastSeen), chance.largest(step))) seen.insert(last);
  }
  for (const std::uint64_t last : proposed) {
    const auto step = largest.find(last);
    if (step == largest.end() || step->second >= std::log1p(kLeastKept)) seen.insert(last);
  }
  return {seen.begin(), seen.end()};
}

}  // namespace foretrace::measure
