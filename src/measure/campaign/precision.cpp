#include "measure/campaign/precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "measure/core/functions.hpp"
#include "measure/core/hosts.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

using PointKey = std::tuple<std::string, int, std::uint64_t>;

// Also within a node, after kNodePrefix.
bool is_of_differences(const std::string& name) {
  return name.find(kRewritePrefix) != name.npos || name.find(kPiecesPrefix) != name.npos;
}

// The undisturbed blocks of every point, by launch; launches without any stay
// with nothing.
std::map<PointKey, std::map<int, std::vector<double>>> by_point(const SampleSet& set) {
  std::map<PointKey, std::map<int, std::vector<double>>> points;
  for (const Sample& sample : set.samples) {
    // They stand beside others, whose factors they are.
    if (sample.function.starts_with(kUntouchedPrefix)) continue;
    auto& blocks = points[{sample.function, sample.ranks, sample.bytes}][sample.launch];
    if (sample.kept) blocks.push_back(sample.seconds);
  }
  return points;
}

}  // namespace

Precision precision_of(const SampleSet& set) {
  std::vector<double> widths;
  for (const auto& [key, launches] : by_point(set)) {
    // Launches are made for the messages. Reductions are many, and agree; of what is hardly longer
    // than nothing a share says little.
    const std::string& name = std::get<0>(key);
    if (name.starts_with(kReductionPrefix) || is_of_differences(name)) continue;
    std::vector<double> medians;
    for (const auto& [launch, blocks] : launches)
      if (!blocks.empty()) medians.push_back(stats::median(blocks));
    if (medians.size() < 2) continue;
    const double middle = stats::mean(medians);
    if (middle <= 0) continue;
    const double error =
        stats::standard_deviation(medians) / std::sqrt(static_cast<double>(medians.size()));
    widths.push_back(stats::student(0.95, static_cast<double>(medians.size() - 1)) * error /
                     middle);
  }
  if (widths.empty()) return {std::numeric_limits<double>::infinity(), 0};
  return {stats::median(widths), widths.size()};
}

std::set<std::string> invalid_functions(const SampleSet& set) {
  std::set<int> launches;
  for (const Sample& sample : set.samples) launches.insert(sample.launch);
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // points, good ones
  for (const auto& [key, by_launch] : by_point(set)) {
    const auto undisturbed = static_cast<std::size_t>(
        std::ranges::count_if(by_launch, [](const auto& each) { return !each.second.empty(); }));
    auto& [points, good] = counts[std::get<0>(key)];
    ++points;
    good += undisturbed > 0 && 2 * undisturbed >= std::min(launches.size(), by_launch.size());
  }
  std::set<std::string> invalid;
  for (const auto& [function, count] : counts)
    if (2 * count.second < count.first) invalid.insert(function);
  return invalid;
}

std::set<std::string> sparse_functions(const SampleSet& set) {
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kEnough = 6;
  std::map<std::string, std::set<std::uint64_t>> sizes;
  for (const Sample& sample : set.samples)
    if (!sample.function.starts_with(kUntouchedPrefix) && !is_of_differences(sample.function))
      sizes[sample.function].insert(sample.bytes);
  const bool some_have =
      std::ranges::any_of(sizes, [](const auto& each) { return each.second.size() >= kEnough; });
  std::set<std::string> sparse;
  for (const auto& [function, of] : sizes)
    if (some_have && of.size() < kLeast && *of.rbegin() > 0) sparse.insert(function);
  return sparse;
}

}  // namespace foretrace::measure
