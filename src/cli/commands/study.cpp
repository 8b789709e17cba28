#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "cli/programs/launch.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/process.hpp"
#include "cli/system/terminal_line.hpp"
#include "cli/words/architecture_file.hpp"
#include "cli/words/mistake.hpp"
#include "cli/words/named_files.hpp"
#include "cli/words/option_values.hpp"
#include "study/run.hpp"

namespace foretrace::cli {
namespace study_command {
namespace {

struct Options {
  std::string study;
  std::string output;
  std::string array;
  int jobs = 0;
  bool dry_run = false;
};

struct Part {
  int number = 0, count = 1;  // from 0
  bool launched = false;
};

// --array K/N, K from 1 on or 0; or what a launcher made us.
Part part_of(const std::string& array) {
  if (!array.empty()) {
    Part part;
    int used = 0;
    if (std::sscanf(array.c_str(), "%d/%d%n", &part.number, &part.count, &used) != 2 ||
        array[static_cast<std::size_t>(used)] != '\0' || part.count < 1 || part.number < 1 ||
        part.number > part.count)
      throw UsageError("--array " + array + ": expected K/N with K from 1 to N, such as 3/16");
    --part.number;
    return part;
  }
  const auto launcher = find_launcher();
  if (!launcher || launcher->size < 2) return {};
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* text = std::getenv(name)) return {std::atoi(text), launcher->size, true};
  throw UsageError(std::string(name_of(launcher->kind)) +
                   " does not tell which process this is; use --array K/N");
}

// In a terminal a line that is renewed; elsewhere one every half minute.
std::function<void(const study::Progress&)> progress_line() {
  using std::chrono::milliseconds;
  constexpr milliseconds kHalfMinute(30'000);
  const bool terminal = TerminalLine::is_possible();
  const auto line = terminal ? std::make_shared<TerminalLine>(milliseconds(200))
                             : std::make_shared<TerminalLine>(kHalfMinute, kHalfMinute);
  return [terminal, line](const study::Progress& progress) {
    if (progress.done == progress.total) return line->clear();
    if (!line->is_due()) return;
    const std::string text = fmt::format("{} of {} launches, {} left", progress.done,
                                         progress.total, rough_duration(progress.seconds_left));
    if (terminal)
      line->show(text);
    else
      std::fprintf(stderr, "foretrace: %s\n", text.c_str());
  };
}

void print_plan(const study::Study& study, const study::Expansion& expansion,
                const std::string& output) {
  struct Count {
    std::size_t jobs = 0, measure = 0;
    std::string example;
  };
  std::map<std::string, Count> counts;
  std::map<std::int64_t, bool> recordings;
  for (const study::Job& job : expansion.jobs) {
    Count& count = counts[job.way + ": " + job.program];
    ++count.jobs;
    if (job.measures) ++count.measure;
    if (job.recording) recordings[job.recording->point] = true;
    if (count.example.empty()) {
      if (job.kind != study::Kind::command) count.example = " foretrace";
      for (const std::string& word : job.command) count.example += " " + word;
    }
  }
  std::printf("%s: %zu points of %zu combinations", study.name.c_str(), expansion.jobs.size(),
              expansion.combinations);
  if (expansion.left_out > 0) std::printf(", %zu left out", expansion.left_out);
  std::printf("; %zu recordings\n", recordings.size());
  for (const auto& [name, count] : counts)
    std::printf(
        "%s: %zu points, %s\n %s\n", name.c_str(), count.jobs,
        count.measure > 0 ? "one at a time, since they take times of this machine" : "in parallel",
        count.example.c_str());
  if (!output.empty())
    std::printf("%zu of them are in %s already\n", study::count_done(expansion.jobs, output),
                output.c_str());
}

// Whether the sub-command takes such words and values; what it works on need not be there yet.
void check_command(const std::vector<std::string>& words) {
  for (const Subcommand* subcommand : {&kRecord, &kPredict, &kSimulate, &kModel}) {
    if (words.front() != subcommand->name) continue;
    CLI::App app("", subcommand->name);
    const std::function<void()> check = subcommand->declare_to_check(app);
    std::vector<std::string> backwards(words.rbegin(), words.rend() - 1);
    try {
      app.parse(backwards);
    } catch (const CLI::ParseError& error) {
      throw UsageError(mistake_of(error, app));
    }
    check();
  }
}

// The files that an option's word means: an architecture with what it includes, or the word itself.
std::vector<std::string> files_of(const std::string& word) {
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
  if (value.starts_with("arch:")) return read_architecture(value.substr(5)).files;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(value, ignored)) return {value};
  return {};
}

int run_study(const Options& options) {
  const study::Study study = study::read_study(options.study);
  const study::Expansion expansion = study::expand(
      study, {[](const std::string& name) { return find_named(Named::machine, name); },
              [](const std::string& name) { return find_named(Named::model, name); }, check_command,
              files_of});
  for (const std::string& name : expansion.unused)
    std::fprintf(stderr, "foretrace: %s: nothing uses the parameter '%s'\n", study.file.c_str(),
                 name.c_str());
  const Part part = part_of(options.array);
  if (options.dry_run) {
    print_plan(study, expansion, options.output);
    if (part.count > 1)
      std::printf("part %d of %d: %zu points\n", part.number + 1, part.count,
                  study::jobs_of_part(expansion.jobs, part.number, part.count).size());
    return 0;
  }
  if (options.output.empty()) throw UsageError("study: -o is missing: where to keep the results");
  study::RunSettings settings;
  settings.tool = own_path();
  settings.version = FORETRACE_VERSION;
  settings.output = options.output;
  settings.jobs = options.jobs == 0 && part.launched ? 1 : options.jobs;
  settings.part = part.number;
  settings.parts = part.count;
  if (part.number == 0) settings.progress = progress_line();
  settings.tell = [](const std::string& line) {
    std::fprintf(stderr, "foretrace: %s\n", line.c_str());
  };
  const std::vector<study::Job> jobs = study::jobs_of_part(expansion.jobs, part.number, part.count);
  // What is done is kept launch by launch.
  const char* const line = TerminalLine::is_possible()
                               ? "\r\033[Kforetrace: interrupted; the same command goes on\n"
                               : "foretrace: interrupted; the same command goes on\n";
  say_if_interrupted(part.number == 0 ? line : "", study::end_launches);
  const study::RunResult result = study::run(study, jobs, settings);
  for (const std::string& failure : result.failures)
    std::fprintf(stderr, "foretrace: failed: %s\n", failure.c_str());
  std::fprintf(stderr, "foretrace: %zu launches now, %zu points known before", result.launches,
               result.known);
  if (result.failed > 0) std::fprintf(stderr, ", %zu failed", result.failed);
  if (result.unsteady > 0)
    std::fprintf(stderr, ", %zu points not as steady as asked", result.unsteady);
  std::fprintf(stderr, " -> %s\n", options.output.c_str());
  // A launcher takes another status for the end of the whole job, and kills the other parts.
  return result.failed > 0 && !part.launched ? 1 : 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.alias("sweep");
  app.add_option("study", options->study, "What to run: a TOML file")->required();
  app.add_option("-o,--output", options->output, "Where results are kept, and added to");
  app.add_option("--jobs", options->jobs, "Virtual launches at once (0: one per processor)")
      ->check(in_range(0, 4096));
  app.add_option("--array", options->array,
                 "Run part K of N alone: K/N, for a batch system's array");
  app.add_flag("--dry-run", options->dry_run, "Say what would be run, and run nothing");
  return [options] { return run_study(*options); };
}

}  // namespace
}  // namespace study_command

const Subcommand kStudy{"study", "Run a program at many points, and keep the results",
                        study_command::declare,
                        "foretrace study scaling.toml -o scaling.db --dry-run\n"
                        "foretrace study scaling.toml -o scaling.db\n"
                        "mpirun -n 4 foretrace study scaling.toml -o scaling.db\n"};

}  // namespace foretrace::cli
