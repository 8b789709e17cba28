#include "measure/campaign/measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "base/error.hpp"
#include "base/utc_time.hpp"
#include "machine/machine_file.hpp"
#include "machine/state.hpp"
#include "measure/campaign/campaign.hpp"
#include "measure/core/samples.hpp"
#include "measure/fit/launch_factors.hpp"
#include "measure/fit/pattern_times.hpp"
#include "measure/fit/star.hpp"

namespace foretrace::measure {
namespace {

namespace fs = std::filesystem;

// A name that nothing has yet: what an interrupted run left is not overwritten.
std::string unused_name(const std::string& base) {
  std::string name = base;
  for (int i = 2; fs::exists(name); ++i) name = base + std::to_string(i);
  return name;
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    throw Error(to + ": cannot replace: " + std::strerror(errno));
}

std::set<std::string> words_of(const SampleSet& set, const char* key) {
  const auto found = set.info.find(key);
  std::set<std::string> words;
  if (found == set.info.end()) return words;
  std::istringstream text(found->second);
  for (std::string word; text >> word;) words.insert(word);
  return words;
}

// Why the figures are not to be trusted.
std::vector<std::string> invalid_reasons(const SampleSet& set) {
  std::vector<std::string> reasons;
  const auto told = set.info.find("oversubscribed");
  if (told != set.info.end() && told->second == "yes")
    reasons.emplace_back("there were more ranks than cores");
  if (const auto invalid = set.info.find("invalid"); invalid != set.info.end())
    reasons.push_back("ranks were switched out nearly all the time in " + invalid->second);
  return reasons;
}

// Those in which ranks were switched out nearly all the time.
void mark_invalid(const std::set<std::string>& invalid, machine::MachineModel& model) {
  const auto mark = [&invalid](const std::string& prefix, machine::Functions& functions) {
    for (auto& [name, function] : functions) function.valid = !invalid.contains(prefix + name);
  };
  mark("", model.functions);
  for (auto& [path, own] : model.paths) mark(std::string(name_of(path)) + "/", own.functions);
}

std::uint64_t header_said(const SampleSet& set) {
  const auto header = set.info.find("header");
  return header == set.info.end() ? 0 : parse_header(header->second);
}

FitOutcome fit_and_name(const MeasureOptions& options, const SampleSet& set) {
  SampleSet used = used_samples(set);
  const std::set<std::string> sparse = sparse_functions(used);
  std::erase_if(used.samples,
                [&sparse](const Sample& sample) { return sparse.contains(sample.function); });
  FitOutcome outcome = fit_model(used, options.fit);
  mark_invalid(words_of(set, "invalid"), outcome.model);
  outcome.model.launches = launch_factors(used.samples, outcome);
  add_other_state(other_samples(set), used.samples.size(), outcome.model);
  outcome.model.patterns = pattern_times(used.samples, words_of(set, "invalid"));
  if (const auto hosts = set.info.find("hosts_of_ranks"); hosts != set.info.end())
    outcome.model.topology =
        measured_star(parse_hosts(hosts->second), outcome.model, header_said(set));
  const auto info = [&set](const char* key) {
    const auto found = set.info.find(key);
    return found == set.info.end() ? std::string("unknown") : found->second;
  };
  machine::MachineModel& model = outcome.model;
  model.name = options.name.empty() ? info("host") + ", " + info("mpi_library") + ", " +
                                          std::to_string(model.ranks) + " ranks"
                                    : options.name;
  model.cache_line = cache_line_of(set);
  if (set.info.contains("date")) model.date = info("date");
  model.source = "foretrace measure, " + info("launches") + " launches, start by " + info("start") +
                 ", buffers " + (set.info.contains("buffers") ? info("buffers") : "warm") +
                 (info("oversubscribed") == "yes" ? ", MORE RANKS THAN CORES" : "") +
                 (set.info.contains("invalid") ? ", INVALID: " + info("invalid") : "");
  return outcome;
}

// Below this share of undisturbed blocks the machine was at something else.
constexpr double kQuiet = 0.9;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

void warn_of_surviving(const FitOutcome& outcome, std::ostream& messages) {
  double samples = 0;
  double kept = 0;
  for (const FunctionReport& report : outcome.reports) {
    samples += static_cast<double>(report.samples);
    kept += static_cast<double>(report.samples) * report.surviving;
  }
  if (kept < kQuiet * samples)
    messages << "foretrace measure: the machine was busy with something else (see "
                "'surviving'); measure again when it is quiet\n";
}

std::set<std::string> unreliable(const FitOutcome& outcome) {
  const auto names = machine::unreliable_functions(outcome.model);
  return {names.begin(), names.end()};
}

void warn_of_unreliable(const FitOutcome& outcome, std::ostream& messages) {
  const auto warn = [&messages](const std::string& prefix, const machine::Functions& functions) {
    for (const auto& [name, function] : functions)
      if (function.valid && machine::is_unreliable(function))
        messages << "foretrace measure: WARNING: INVALID: the equations of " << prefix << name
                 << " are off by " << percent(function.held_out->mean)
                 << " at sizes that were left out: too little was measured, or too unsteadily\n";
  };
  warn("", outcome.model.functions);
  for (const auto& [path, own] : outcome.model.paths)
    warn(std::string(name_of(path)) + "/", own.functions);
}

// What is wrong with the measurement as a whole, loudest first.
void warn(const SampleSet& set, std::ostream& messages) {
  const std::string who = "foretrace measure: ";
  const auto is = [&set](const std::string& key, const char* value) {
    const auto found = set.info.find(key);
    return found != set.info.end() && found->second == value;
  };
  if (is("oversubscribed", "yes"))
    messages << who
             << "WARNING: there were more ranks than cores, and such a machine cannot be "
                "characterised: the figures are of the operating system's time slices. Measure "
                "with no more ranks than cores.\n";
  for (const auto& [key, value] : set.info) {
    if (key.starts_with("launch_") && key.ends_with("_state") && value != kStateUsed)
      messages << who << "WARNING: launch " << key.substr(7, key.size() - 7 - 6)
               << " is not used, the machine was in another state (" << value << ")\n";
    if (key.ends_with("_threshold_seen"))
      messages << who << "WARNING: the launches found different thresholds, " << key << " = "
               << value << '\n';
  }
  std::string sparse;
  for (const std::string& function : sparse_functions(used_samples(set))) sparse += " " + function;
  if (!sparse.empty())
    messages << who
             << "left out, measured for one or two sizes only (more time: --budget):" << sparse
             << '\n';
  if (set.info.contains("invalid"))
    messages << who << "WARNING: INVALID, because ranks were switched out nearly all the time: "
             << set.info.at("invalid") << '\n';
}

void say_precision(const Campaign& campaign, const MeasureOptions& options) {
  if (!options.messages) return;
  const Preset preset = preset_of(options);
  std::ostream& out = *options.messages;
  out << "foretrace measure: " << campaign.state.used.size()
      << " launches in one state of the machine";
  if (campaign.precision.points > 0)
    out << ", 95 % confidence interval over launches +-" << percent(campaign.precision.half_width)
        << " (middle over functions and sizes, wanted " << percent(preset.target) << ")";
  if (reason_to_stop(campaign, options) == Stop::out_of_time)
    out << "; the time is up (--budget " << std::lround(preset.budget) << "), give more for "
        << (static_cast<int>(campaign.state.used.size()) < preset.launches
                ? std::to_string(preset.launches) + " launches"
                : "a narrower one");
  out << '\n';
}

// More ranks than cores: whatever was measured is no property of the machine.
void check_cores(const MeasureOptions& options, const SampleSet& set) {
  const auto told = set.info.find("oversubscribed");
  if (options.keep_invalid || told == set.info.end() || told->second != "yes") return;
  const auto ranks = set.info.find("ranks");
  throw UsageError(
      "measure: there are more ranks" +
      (ranks == set.info.end() ? std::string() : " (" + ranks->second + ")") +
      " than processor cores; such ranks wait for time slices and not for messages, so nothing can "
      "be measured and no model is written. Use fewer ranks (-n), or a machine with more cores "
      "(--launch \"srun -n 64\"); --keep-invalid measures and writes a model all the same");
}

bool is_usable(const SampleSet& set, const FitOutcome& outcome) {
  const std::set<std::string> invalid = words_of(set, "invalid");
  return std::ranges::any_of(outcome.reports, [&](const FunctionReport& report) {
    return !invalid.contains(report.name);
  });
}

// Writes the model, unless nothing in it can be used; prints how good it is.
int finish(const MeasureOptions& options, const SampleSet& set, const FitOutcome& outcome) {
  const bool written = options.keep_invalid || is_usable(set, outcome);
  if (written)
    machine::write_machine_file(outcome.model, options.output, outcome.costs, invalid_reasons(set));
  const std::string samples = samples_path(options.output);
  if (options.messages) {
    warn(set, *options.messages);
    warn_of_surviving(outcome, *options.messages);
    warn_of_unreliable(outcome, *options.messages);
    if (machine::has_other_state(outcome.model))
      *options.messages << "foretrace measure: the machine was in another state for "
                        << percent(outcome.model.other_state_share)
                        << " of the measurement; predictions for that one: --other-state\n";
  }
  if (options.table) {
    std::set<std::string> invalid = words_of(set, "invalid");
    invalid.merge(unreliable(outcome));
    print_reports(*options.table, outcome, invalid);
    if (written) *options.table << "model: " << options.output << '\n';
    *options.table << "samples: " << samples << '\n';
  }
  if (!written)
    throw Error(options.output +
                ": not written, because the ranks were switched out nearly all the time in every "
                "function; measure again when the machine is quiet, with fewer ranks or more "
                "cores. The samples are in " +
                samples + "; --refit --keep-invalid makes a model of them all the same");
  return 0;
}

}  // namespace

std::string samples_path(const std::string& model_path) {
  return fs::path(model_path).replace_extension().string() + ".samples.csv";
}

int run_measure(const MeasureOptions& options) {
  if (options.ranks < 2)
    throw UsageError("measure: a machine is characterised with at least 2 ranks; use -n 2 or more");
  if (options.output.empty()) throw UsageError("measure: give the model's file with -o M.toml");
  const std::string samples_file = samples_path(options.output);
  const Campaign campaign = run_campaign(options, samples_file);
  SampleSet set = combine(campaign, options);
  try {
    check_cores(options, set);
  } catch (...) {
    remove_launches(samples_file);
    throw;
  }
  set.info["date"] = utc_now();
  const std::string partial = unused_name(samples_file + ".part");
  write_samples(set, partial);
  const FitOutcome outcome = fit_and_name(options, set);
  rename_file(partial, samples_file);
  remove_launches(samples_file);
  say_precision(campaign, options);
  return finish(options, set, outcome);
}

int find_thresholds_only(const MeasureOptions& options, std::ostream& out) {
  const std::string file =
      (fs::temp_directory_path() / ("foretrace-thresholds-" + std::to_string(::getpid()))).string();
  std::vector<std::string> argv{"foretrace-measure-" + options.mpi, "--output", file,
                                "--only-thresholds"};
  if (!options.keep_invalid) argv.emplace_back("--need-cores");
  if (options.max_bytes) {
    argv.emplace_back("--max-bytes");
    argv.push_back(std::to_string(*options.max_bytes));
  }
  const int status = options.launch(argv);
  std::error_code ignored;
  fs::remove(file + kStandstillMark, ignored);
  if (status != 0) throw Error(argv.front() + " ended with status " + std::to_string(status));
  const SampleSet set = read_samples(file);
  fs::remove(file, ignored);
  check_cores(options, set);
  for (const auto& [key, value] : set.info)
    if (key.ends_with("_threshold") || key.ends_with("_thresholds"))
      out << "# " << key << " = " << value << '\n';
  return 0;
}

int refit(const MeasureOptions& options) {
  const SampleSet set = read_samples(samples_path(options.output));
  const FitOutcome outcome = fit_and_name(options, set);
  check_cores(options, set);
  return finish(options, set, outcome);
}

void print_reports(std::ostream& out, const FitOutcome& outcome,
                   const std::set<std::string>& invalid) {
  char line[160];
  std::snprintf(line, sizeof line, "%-14s %8s %8s %11s %11s  %-20s %9s\n", "function", "samples",
                "regimes", "mean error", "max error", "at", "surviving");
  out << line;
  for (const FunctionReport& report : outcome.reports) {
    const std::string at =
        "p=" + std::to_string(report.max_ranks) + " d=" + std::to_string(report.max_bytes);
    std::snprintf(line, sizeof line, "%-14s %8zu %8zu %10.1f%% %10.1f%%  %-20s %8.1f%%%s\n",
                  report.name.c_str(), report.samples, report.regimes,
                  100 * report.mean_relative_error, 100 * report.max_relative_error, at.c_str(),
                  100 * report.surviving, invalid.contains(report.name) ? "  INVALID" : "");
    out << line;
  }
}

}  // namespace foretrace::measure
