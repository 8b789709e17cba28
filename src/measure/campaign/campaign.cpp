#include "measure/campaign/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "measure/campaign/progress.hpp"
#include "measure/core/hosts.hpp"
#include "measure/core/options.hpp"

namespace foretrace::measure {
namespace {

namespace fs = std::filesystem;

// What starting and ending the program takes, beside its own time.
constexpr double kStartSeconds = 1.5;
// Fewer tell little of how launches differ: shorter ones are made instead.
constexpr int kLeastLaunches = 5;
// So often a launch is made that comes to a standstill.
constexpr int kStandstills = 3;
// A machine that does not stay in one state is given up after this many times
// the launches that were wanted.
constexpr int kMostLaunches = 4;

const char* name_of(EffortLevel effort) {
  switch (effort) {
    case EffortLevel::quick:
      return "quick";
    case EffortLevel::normal:
      return "normal";
    case EffortLevel::thorough:
      return "thorough";
  }
  return "";
}

std::string share_file(const std::string& samples_path) {
  return samples_path + ".progress";
}

// How many launches look for jumps: what one misses, another finds.
constexpr std::size_t kSearches = 3;

bool is_list_of_sizes(const std::string& key) {
  return key.starts_with("jumps_") || key == "sizes_between";
}

std::set<std::uint64_t> sizes_of(const std::string& text) {
  std::set<std::uint64_t> sizes;
  std::istringstream words(text);
  for (std::uint64_t size = 0; words >> size;) sizes.insert(size);
  return sizes;
}

std::string text_of(const std::set<std::uint64_t>& sizes, char between) {
  std::string text;
  for (const std::uint64_t size : sizes) {
    if (!text.empty()) text += between;
    text += std::to_string(size);
  }
  return text;
}

// All sizes that the search of any launch asks to be measured.
std::string known_thresholds(const std::vector<SampleSet>& launches) {
  std::set<std::uint64_t> all;
  for (const SampleSet& set : launches)
    for (const auto& [key, value] : set.info)
      if (is_list_of_sizes(key)) all.merge(sizes_of(value));
  return all.empty() ? "none" : text_of(all, ',');
}

std::vector<std::string> program_arguments(const MeasureOptions& options, int launch,
                                           const std::string& output, const std::string& share,
                                           const std::vector<SampleSet>& before, int attempt) {
  std::vector<std::string> argv{"foretrace-measure-" + options.mpi};
  const auto add = [&argv](const char* option, const std::string& value) {
    argv.emplace_back(option);
    argv.push_back(value);
  };
  add("--output", output);
  add("--launch", std::to_string(launch));
  // Another order may come through.
  constexpr std::uint64_t kAnother = 1'000'003;
  add("--seed", std::to_string(options.seed + kAnother * static_cast<std::uint64_t>(attempt)));
  if (options.effort == EffortLevel::quick) argv.emplace_back("--quick");
  if (options.effort == EffortLevel::thorough) argv.emplace_back("--thorough");
  const double seconds = preset_of(options).launch_seconds;
  add("--seconds", std::to_string(std::max(1L, std::lround(seconds))));
  if (options.max_bytes) add("--max-bytes", std::to_string(*options.max_bytes));
  const std::string affordable = before.empty() ? "" : fact(before.front(), "max_bytes");
  if (!affordable.empty()) add("--affordable", affordable);
  if (options.start_by_barrier) add("--start", "barrier");
  if (options.cold) add("--buffers", "cold");
  if (!options.keep_invalid) argv.emplace_back("--need-cores");
  if (!before.empty()) {
    add("--thresholds", known_thresholds(before));
    if (before.size() < kSearches) argv.emplace_back("--search");
  }
  if (options.progress) add("--progress", share);
  return argv;
}

double seconds_of(const SampleSet& set, int launch) {
  return std::strtod(fact(set, "launch_" + std::to_string(launch) + "_wall").c_str(), nullptr);
}

double expected_seconds(const Campaign& campaign, const MeasureOptions& options) {
  if (campaign.launches.empty()) return preset_of(options).launch_seconds + kStartSeconds;
  return campaign.seconds / static_cast<double>(campaign.launches.size());
}

// What an interrupted measurement left.
std::vector<SampleSet> read_launches(const MeasureOptions& options,
                                     const std::string& samples_path) {
  std::vector<SampleSet> launches;
  const std::string arguments = arguments_text(options);
  for (int launch = 1; fs::exists(launch_path(samples_path, launch)); ++launch) {
    const std::string path = launch_path(samples_path, launch);
    SampleSet set = read_samples(path);
    const std::string theirs = fact(set, "arguments");
    if (theirs != arguments)
      throw UsageError(path + " is a launch of an unfinished measurement with other arguments (" +
                       theirs + "; now " + arguments +
                       "): give the same to go on with it, or --fresh to start over");
    launches.push_back(std::move(set));
  }
  return launches;
}

void say(const MeasureOptions& options, const std::string& text) {
  if (options.messages) *options.messages << "foretrace measure: " << text << std::endl;
}

[[noreturn]] void fail(const MeasureOptions& options, int launch, int status,
                       const std::string& samples_path) {
  std::string message = "foretrace-measure-" + options.mpi + " ended with status " +
                        std::to_string(status) + " in launch " + std::to_string(launch);
  if (launch > 1)
    message += "; the launches before it are in " + launch_path(samples_path, 1) +
               " and so on: the same command goes on from there, --fresh starts over";
  throw Error(message);
}

SampleSet run_launch(const MeasureOptions& options, const Campaign& campaign,
                     const std::string& samples_path) {
  const int launch = static_cast<int>(campaign.launches.size()) + 1;
  const std::string path = launch_path(samples_path, launch);
  const std::string running = path + ".running";
  const std::string share = share_file(samples_path);
  if (options.progress) std::ofstream(share) << "0.000\n";
  auto begin = std::chrono::steady_clock::now();
  int status = 0;
  std::error_code ignored;
  for (int attempt = 0; attempt < kStandstills; ++attempt) {
    begin = std::chrono::steady_clock::now();
    // What an interrupted one left.
    fs::remove(running + kStandstillMark, ignored);
    status = options.launch(
        program_arguments(options, launch, running, share, campaign.launches, attempt));
    const bool stood_still = fs::remove(running + kStandstillMark, ignored);
    if (status == 0 || !stood_still) break;
    say(options, "launch " + std::to_string(launch) + " stood still" +
                     (attempt + 1 < kStandstills ? "; it is made again" : " again: given up"));
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  fs::remove(share, ignored);
  if (status != 0) {
    fs::remove(running, ignored);
    fail(options, launch, status, samples_path);
  }
  SampleSet set = read_samples(running);
  set.info["arguments"] = arguments_text(options);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", wall.count());
  set.info["launch_" + std::to_string(launch) + "_wall"] = text;
  write_samples(set, path);
  fs::remove(running, ignored);
  return set;
}

// What most of the launches that count say; where they differ, all of it too. A
// launch that says nothing may have run out of time.
void settle(const std::string& key, const Campaign& campaign, SampleSet& all) {
  std::map<std::string, int> votes;
  std::string seen;
  for (const int launch : campaign.state.used) {
    const std::string value = fact(campaign.launches[static_cast<std::size_t>(launch - 1)], key);
    if (!value.empty()) ++votes[value];
    seen += (seen.empty() ? "" : " ") + (value.empty() ? "none" : value);
  }
  all.info.erase(key);
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  if (most == votes.end()) return;
  all.info[key] = most->first;
  if (votes.size() > 1) all.info[key + "_seen"] = seen;
}

}  // namespace

Preset preset_of(const MeasureOptions& options) {
  Preset preset;
  if (options.effort == EffortLevel::quick) preset = {5, 50, 7, 0.05};
  if (options.effort == EffortLevel::thorough) preset = {10, 1500, 80, 0.01};
  // Collectives are measured for every number of ranks.
  const bool others = options.effort != EffortLevel::quick;
  const double more =
      0.5 * static_cast<double>(rank_counts(std::max(options.ranks, 2), others).size() + 1);
  preset.budget *= std::max(1.0, more);
  preset.launch_seconds *= std::max(1.0, more);
  if (options.launches > 0) {
    preset.launches = options.launches;
    preset.budget = std::max(preset.budget, 1.5 * options.launches * preset.launch_seconds);
  }
  if (options.budget > 0) preset.budget = options.budget;
  if (options.target > 0) preset.target = options.target;
  if (options.launches == 0) {
    const double fitting = preset.budget / (preset.launch_seconds + kStartSeconds);
    preset.launches =
        std::clamp(static_cast<int>(std::min(fitting, 1e6)), kLeastLaunches, preset.launches);
  }
  const double share = preset.budget / preset.launches - kStartSeconds;
  preset.launch_seconds = std::max(1.0, std::min(preset.launch_seconds, share));
  return preset;
}

std::string arguments_text(const MeasureOptions& options) {
  std::string text = options.mpi + ", " + std::to_string(options.ranks) + " ranks, " +
                     name_of(options.effort) + ", seed " + std::to_string(options.seed) +
                     ", start by " + (options.start_by_barrier ? "barrier" : "common clock") +
                     ", buffers " + (options.cold ? "cold" : "warm");
  if (options.max_bytes) text += ", up to " + std::to_string(*options.max_bytes) + " bytes";
  if (!options.launcher.empty()) text += ", launch " + options.launcher;
  return text;
}

std::string launch_path(const std::string& samples_path, int launch) {
  return samples_path + ".launch-" + std::to_string(launch);
}

void remove_launches(const std::string& samples_path) {
  std::error_code ignored;
  for (int launch = 1; fs::remove(launch_path(samples_path, launch), ignored); ++launch) {
  }
}

void assess(Campaign& campaign) {
  campaign.states.clear();
  campaign.seconds = 0;
  SampleSet all;
  for (std::size_t i = 0; i < campaign.launches.size(); ++i) {
    const int launch = static_cast<int>(i) + 1;
    const SampleSet& set = campaign.launches[i];
    campaign.states.push_back(state_of(set, launch));
    campaign.seconds += seconds_of(set, launch);
    std::ranges::copy(set.samples, std::back_inserter(all.samples));
  }
  campaign.state = choose_state(campaign.states, all.samples);
  mark_states(campaign.states, campaign.state, all);
  campaign.precision = precision_of(used_samples(all));
}

Stop reason_to_stop(const Campaign& campaign, const MeasureOptions& options) {
  if (campaign.launches.empty()) return Stop::none;
  if (fact(campaign.launches.front(), "oversubscribed") == "yes") return Stop::oversubscribed;
  const Preset preset = preset_of(options);
  const auto used = static_cast<int>(campaign.state.used.size());
  if (options.launches > 0 && used >= options.launches) return Stop::as_many_as_asked;
  if (used >= preset.launches && campaign.precision.half_width <= preset.target)
    return Stop::precise;
  const auto all = static_cast<int>(campaign.launches.size());
  if (campaign.seconds + expected_seconds(campaign, options) > preset.budget ||
      all >= kMostLaunches * preset.launches)
    return Stop::out_of_time;
  return Stop::none;
}

SampleSet combine(const Campaign& campaign, const MeasureOptions& options) {
  SampleSet all;
  for (const SampleSet& set : campaign.launches) {
    std::ranges::copy(set.samples, std::back_inserter(all.samples));
    std::map<std::string, std::string> facts = set.info;
    // A doubt about one launch is a doubt about all.
    if (fact(set, "oversubscribed") == "yes") all.info["oversubscribed"] = "yes";
    for (auto& [key, value] : facts) {
      if (!is_list_of_sizes(key)) continue;
      std::set<std::uint64_t> sizes = sizes_of(value);
      sizes.merge(sizes_of(fact(all, key)));
      all.info[key] = text_of(sizes, ' ');
    }
    all.info.merge(facts);
  }
  mark_states(campaign.states, campaign.state, all);
  for (const std::string prefix : {"", kNodePrefix}) {
    settle(prefix + "sync_threshold", campaign, all);
    settle(prefix + "local_threshold", campaign, all);
  }
  all.info["arguments"] = arguments_text(options);
  all.info["launches"] = std::to_string(campaign.state.used.size());
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", preset_of(options).target);
  all.info["half_width_target"] = text;
  if (std::isfinite(campaign.precision.half_width)) {
    std::snprintf(text, sizeof text, "%.3g", campaign.precision.half_width);
    all.info["half_width"] = text;
  }
  std::string invalid;
  for (const std::string& function : invalid_functions(used_samples(all)))
    invalid += (invalid.empty() ? "" : " ") + function;
  if (!invalid.empty()) all.info["invalid"] = invalid;
  return all;
}

Campaign run_campaign(const MeasureOptions& options, const std::string& samples_path) {
  if (options.fresh) remove_launches(samples_path);
  Campaign campaign;
  campaign.launches = read_launches(options, samples_path);
  assess(campaign);
  if (!campaign.launches.empty())
    say(options, "going on with the " + std::to_string(campaign.launches.size()) +
                     " launches that an unfinished measurement left (--fresh starts over)");
  const Preset preset = preset_of(options);
  Progress progress(options.messages, options.progress);
  while (reason_to_stop(campaign, options) == Stop::none) {
    const auto left_out = static_cast<int>(campaign.launches.size() - campaign.state.used.size());
    const int launch = static_cast<int>(campaign.launches.size()) + 1;
    progress.begin(launch, preset.launches + left_out, expected_seconds(campaign, options),
                   share_file(samples_path));
    try {
      campaign.launches.push_back(run_launch(options, campaign, samples_path));
    } catch (...) {
      progress.end();
      throw;
    }
    progress.end();
    assess(campaign);
    if (std::ranges::binary_search(campaign.state.used, launch)) continue;
    say(options, "launch " + std::to_string(launch) + " found the machine in another state (" +
                     describe(campaign.states.back()) + "); launches in one state so far: " +
                     std::to_string(campaign.state.used.size()));
  }
  return campaign;
}

}  // namespace foretrace::measure
