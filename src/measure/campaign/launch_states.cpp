#include "measure/campaign/launch_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace foretrace::measure {
namespace {

std::string text_of(const SampleSet& set, const std::string& key) {
  const auto found = set.info.find(key);
  return found == set.info.end() ? std::string() : found->second;
}

double number_of(const SampleSet& set, const std::string& key) {
  const std::string text = text_of(set, key);
  const double value = std::strtod(text.c_str(), nullptr);
  return std::isfinite(value) && value > 0 ? value : 0;
}

bool is_same_bandwidth(double a, double b) {
  if (a <= 0 || b <= 0) return true;  // not known: no reason to part them
  return std::max(a, b) <= kBandwidthFactor * std::min(a, b);
}

// The mean of two readings, or the one there is.
double mean_of(double before, double after) {
  if (before <= 0 || after <= 0) return std::max(before, after);
  return std::sqrt(before * after);
}

using Group = std::vector<LaunchState>;

// The geometric mean over those of which it is known; 0: of none.
double bounce_of(const Group& group) {
  double logarithms = 0;
  int known = 0;
  for (const LaunchState& launch : group) {
    if (launch.bounce <= 0) continue;
    logarithms += std::log(launch.bounce);
    ++known;
  }
  return known > 0 ? std::exp(logarithms / known) : 0;
}

}  // namespace

LaunchState state_of(const SampleSet& set, int launch) {
  const std::string prefix = "launch_" + std::to_string(launch) + "_";
  const double bounce = number_of(set, prefix + "bounce");
  const double bounce_after = number_of(set, prefix + "bounce_after");
  const double bandwidth = number_of(set, prefix + "bandwidth");
  const double bandwidth_after = number_of(set, prefix + "bandwidth_after");
  LaunchState state;
  state.launch = launch;
  state.bounce = mean_of(bounce, bounce_after);
  state.bandwidth = mean_of(bandwidth, bandwidth_after);
  state.changed =
      !is_same_state(bounce, bounce_after) || !is_same_bandwidth(bandwidth, bandwidth_after);
  for (const char* key :
       {"host", "processor", "mpi_library", "mpi_settings", "binding", "clock_source", "governor"})
    state.surroundings += text_of(set, key) + '\n';
  return state;
}

double cache_line_of(const SampleSet& set) {
  Group used;
  for (int launch = 1; set.info.contains("launch_" + std::to_string(launch) + "_state"); ++launch)
    if (text_of(set, "launch_" + std::to_string(launch) + "_state") == kStateUsed)
      used.push_back(state_of(set, launch));
  return bounce_of(used);
}

bool same_state(const LaunchState& a, const LaunchState& b) {
  return !a.changed && !b.changed && is_same_state(a.bounce, b.bounce) &&
         is_same_bandwidth(a.bandwidth, b.bandwidth) && a.surroundings == b.surroundings;
}

std::vector<int> chosen_group(const std::vector<LaunchState>& launches) {
  constexpr std::size_t kLeast = 3, kShare = 4;
  std::vector<Group> groups;
  for (const LaunchState& launch : launches) {
    const auto home = std::ranges::find_if(groups, [&](const Group& group) {
      return std::ranges::all_of(
          group, [&](const LaunchState& member) { return same_state(member, launch); });
    });
    if (home == groups.end())
      groups.push_back({launch});
    else
      home->push_back(launch);
  }
  if (groups.empty()) return {};
  const Group* chosen =
      &*std::ranges::max_element(groups, {}, [](const Group& group) { return group.size(); });
  for (const Group& group : groups) {
    const bool enough = group.size() >= kLeast && group.size() * kShare >= launches.size();
    const double bounce = bounce_of(group);
    if (enough && bounce > 0 && bounce * kBounceFactor < bounce_of(*chosen)) chosen = &group;
  }
  std::vector<int> numbers;
  for (const LaunchState& launch : *chosen) numbers.push_back(launch.launch);
  std::ranges::sort(numbers);
  return numbers;
}

std::string describe(const LaunchState& state) {
  char text[96] = "no fingerprint";
  if (state.bounce > 0)
    std::snprintf(text, sizeof text, "cache line %.3g ns, copy %.3g GB/s", 1e9 * state.bounce,
                  1e-9 * state.bandwidth);
  else if (state.bandwidth > 0)
    std::snprintf(text, sizeof text, "copy %.3g GB/s", 1e-9 * state.bandwidth);
  return state.changed ? std::string(text) + ", changed meanwhile" : text;
}

void mark_states(const std::vector<LaunchState>& launches, const std::vector<int>& used,
                 SampleSet& set) {
  Group state;
  for (const LaunchState& launch : launches) {
    const bool in = std::ranges::binary_search(used, launch.launch);
    set.info["launch_" + std::to_string(launch.launch) + "_state"] =
        in ? kStateUsed : "left out: " + describe(launch);
    if (in) state.push_back(launch);
  }
  set.info.erase(kCacheLine);
  if (const double seconds = bounce_of(state); seconds > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", seconds);
    set.info[kCacheLine] = text;
  }
}

}  // namespace foretrace::measure
