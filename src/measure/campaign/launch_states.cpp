#include "measure/campaign/launch_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>

namespace foretrace::measure {
namespace {

double number_of(const SampleSet& set, const std::string& key) {
  const std::string text = fact(set, key);
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

// Of sorted times.
using Window = std::span<const double>;

// Those that lie within a factor kBounceFactor, the most that do; of as many the fastest.
Window fullest_window(Window times) {
  Window fullest;
  for (std::size_t begin = 0, end = 0; begin < times.size(); ++begin) {
    while (end < times.size() && times[end] <= times[begin] * kBounceFactor) ++end;
    if (end - begin > fullest.size()) fullest = times.subspan(begin, end - begin);
  }
  return fullest;
}

double middle_of(Window times) {
  return times[times.size() / 2];
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
  state.blocks_know = std::ranges::any_of(set.samples, [launch](const Sample& sample) {
    return sample.launch == launch && sample.cache_line > 0;
  });
  state.bounce = mean_of(bounce, bounce_after);
  state.bandwidth = mean_of(bandwidth, bandwidth_after);
  state.changed = (!state.blocks_know && !is_same_state(bounce, bounce_after)) ||
                  !is_same_bandwidth(bandwidth, bandwidth_after);
  for (const char* key :
       {"host", "processor", "mpi_library", "mpi_settings", "binding", "clock_source", "governor"})
    state.surroundings += fact(set, key) + '\n';
  return state;
}

double cache_line_of(const SampleSet& set) {
  if (set.info.contains(kCacheLine)) return number_of(set, kCacheLine);
  Group used;
  for (int launch = 1; set.info.contains("launch_" + std::to_string(launch) + "_state"); ++launch)
    if (fact(set, "launch_" + std::to_string(launch) + "_state") == kStateUsed)
      used.push_back(state_of(set, launch));
  return bounce_of(used);
}

bool same_state(const LaunchState& a, const LaunchState& b) {
  return !a.changed && !b.changed &&
         ((a.blocks_know && b.blocks_know) || is_same_state(a.bounce, b.bounce)) &&
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

double chosen_cache_line(std::vector<double> cache_lines) {
  constexpr double kShare = 0.25;
  std::erase_if(cache_lines, [](double seconds) { return !(seconds > 0); });
  if (cache_lines.empty()) return 0;
  std::ranges::sort(cache_lines);
  Window state = fullest_window(cache_lines);
  const auto faster = std::ranges::lower_bound(cache_lines, middle_of(state) / kBounceFactor);
  const Window fast = fullest_window({cache_lines.begin(), faster});
  if (static_cast<double>(fast.size()) >= kShare * static_cast<double>(cache_lines.size()))
    state = fast;
  return middle_of(state);
}

StateChoice choose_state(const std::vector<LaunchState>& launches,
                         const std::vector<Sample>& samples) {
  constexpr double kShare = 0.1;
  StateChoice choice;
  const std::vector<int> group = chosen_group(launches);
  std::map<int, std::vector<double>> lines;
  std::vector<double> all;
  for (const Sample& sample : samples) {
    if (sample.cache_line <= 0 || !std::ranges::binary_search(group, sample.launch)) continue;
    lines[sample.launch].push_back(sample.cache_line);
    all.push_back(sample.cache_line);
  }
  choice.cache_line = chosen_cache_line(all);
  for (const int launch : group) {
    const std::vector<double>& own = lines[launch];
    const auto counting = std::ranges::count_if(
        own, [&](double line) { return is_same_state(line, choice.cache_line); });
    const bool counts = static_cast<double>(counting) >= kShare * static_cast<double>(own.size());
    (counts ? choice.used : choice.others).push_back(launch);
  }
  if (choice.cache_line > 0) return choice;
  Group used;
  for (const LaunchState& launch : launches)
    if (std::ranges::binary_search(group, launch.launch)) used.push_back(launch);
  choice.cache_line = bounce_of(used);
  return choice;
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

void mark_states(const std::vector<LaunchState>& launches, const StateChoice& choice,
                 SampleSet& set) {
  for (const LaunchState& launch : launches) {
    std::string& state = set.info["launch_" + std::to_string(launch.launch) + "_state"];
    if (std::ranges::binary_search(choice.used, launch.launch))
      state = kStateUsed;
    else if (std::ranges::binary_search(choice.others, launch.launch))
      state = std::string(kStateOther) + ": " + describe(launch);
    else
      state = "left out: " + describe(launch);
  }
  set.info.erase(kCacheLine);
  if (choice.cache_line > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", choice.cache_line);
    set.info[kCacheLine] = text;
  }
}

}  // namespace foretrace::measure
