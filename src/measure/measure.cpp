#include "measure/measure.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <ostream>

#include "base/error.hpp"
#include "machine/machine_file.hpp"
#include "measure/samples.hpp"

namespace foretrace::measure {
namespace {

namespace fs = std::filesystem;

int launches_for(const MeasureOptions& options) {
  if (options.launches > 0) return options.launches;
  switch (options.effort) {
    case EffortLevel::quick:
      return 1;
    case EffortLevel::normal:
      return 3;
    case EffortLevel::thorough:
      return 5;
  }
  return 1;
}

std::vector<std::string> program_arguments(const MeasureOptions& options, int launch,
                                           const std::string& output) {
  std::vector<std::string> argv{"foretrace-measure-" + options.mpi,
                                "--output",
                                output,
                                "--launch",
                                std::to_string(launch),
                                "--seed",
                                std::to_string(options.seed)};
  if (options.effort == EffortLevel::quick) argv.push_back("--quick");
  if (options.effort == EffortLevel::thorough) argv.push_back("--thorough");
  if (options.max_bytes) {
    argv.push_back("--max-bytes");
    argv.push_back(std::to_string(*options.max_bytes));
  }
  if (options.progress) argv.push_back("--progress");
  return argv;
}

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

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Adds one launch's samples. The facts about the machine are the first one's,
// but a doubt about any of them is a doubt about all.
void append(SampleSet& all, SampleSet&& more) {
  std::ranges::move(more.samples, std::back_inserter(all.samples));
  if (more.info["oversubscribed"] == "yes") all.info["oversubscribed"] = "yes";
  all.info.merge(more.info);
}

SampleSet run_launches(const MeasureOptions& options, const std::string& partial) {
  const std::string one_launch = partial + ".launch";
  SampleSet all;
  const int launches = launches_for(options);
  for (int launch = 1; launch <= launches; ++launch) {
    if (options.messages)
      *options.messages << "foretrace measure: launch " << launch << " of " << launches << '\n'
                        << std::flush;
    const int status = options.launch(program_arguments(options, launch, one_launch));
    std::error_code ignored;
    if (status != 0) {
      fs::remove(one_launch, ignored);
      std::string message = "foretrace-measure-" + options.mpi + " ended with status " +
                            std::to_string(status) + " in launch " + std::to_string(launch) +
                            " of " + std::to_string(launches);
      if (launch > 1) message += "; the samples of the launches before it are in " + partial;
      throw Error(message);
    }
    append(all, read_samples(one_launch));
    write_samples(all, partial);
    fs::remove(one_launch, ignored);
  }
  return all;
}

FitOutcome fit_and_name(const MeasureOptions& options, const SampleSet& set) {
  FitOutcome outcome = fit_model(set, options.fit);
  const auto info = [&set](const char* key) {
    const auto found = set.info.find(key);
    return found == set.info.end() ? std::string("unknown") : found->second;
  };
  machine::MachineModel& model = outcome.model;
  model.name = options.name.empty() ? info("host") + ", " + info("mpi_library") + ", " +
                                          std::to_string(model.ranks) + " ranks"
                                    : options.name;
  if (set.info.contains("date")) model.date = info("date");
  model.source = "foretrace measure, " + info("launches") + " launches, start by " + info("start") +
                 (info("oversubscribed") == "yes" ? ", MORE RANKS THAN CORES" : "");
  return outcome;
}

// Below this share of undisturbed blocks the machine was at something else.
constexpr double kQuiet = 0.9;

int finish(const MeasureOptions& options, const FitOutcome& outcome) {
  double samples = 0;
  double kept = 0;
  for (const FunctionReport& report : outcome.reports) {
    samples += static_cast<double>(report.samples);
    kept += static_cast<double>(report.samples) * report.surviving;
  }
  const bool noisy = kept < kQuiet * samples;
  if (noisy && options.messages)
    *options.messages << "foretrace measure: the machine was busy with something else (see "
                         "'surviving'); measure again when it is quiet\n";
  if (options.table) {
    print_reports(*options.table, outcome);
    *options.table << "model: " << options.output << "\nsamples: " << samples_path(options.output)
                   << '\n';
  }
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
  const std::string partial = unused_name(samples_file + ".part");
  SampleSet set = run_launches(options, partial);
  set.info["launches"] = std::to_string(launches_for(options));
  set.info["date"] = today();
  write_samples(set, partial);
  const FitOutcome outcome = fit_and_name(options, set);
  const std::string model_file = unused_name(options.output + ".part");
  machine::write_machine_file(outcome.model, model_file, outcome.costs);
  rename_file(partial, samples_file);
  rename_file(model_file, options.output);
  return finish(options, outcome);
}

int refit(const MeasureOptions& options) {
  const FitOutcome outcome = fit_and_name(options, read_samples(samples_path(options.output)));
  machine::write_machine_file(outcome.model, options.output, outcome.costs);
  return finish(options, outcome);
}

void print_reports(std::ostream& out, const FitOutcome& outcome) {
  char line[160];
  std::snprintf(line, sizeof line, "%-14s %8s %8s %11s %11s  %-20s %9s\n", "function", "samples",
                "regimes", "mean error", "max error", "at", "surviving");
  out << line;
  for (const FunctionReport& report : outcome.reports) {
    const std::string at =
        "p=" + std::to_string(report.max_ranks) + " d=" + std::to_string(report.max_bytes);
    const auto* function = outcome.model.find(report.name);
    std::snprintf(line, sizeof line, "%-14s %8zu %8zu %10.1f%% %10.1f%%  %-20s %8.1f%%\n",
                  report.name.c_str(), report.samples, function->regimes.size(),
                  100 * report.mean_relative_error, 100 * report.max_relative_error, at.c_str(),
                  100 * report.surviving);
    out << line;
  }
}

}  // namespace foretrace::measure
