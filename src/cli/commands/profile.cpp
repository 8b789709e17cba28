#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/call_profile.hpp"
#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/summary.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/option_values.hpp"
#include "symbols/call_places.hpp"
#include "trace/counters_file.hpp"
#include "views/draw/units.hpp"
#include "views/profile/call_profile.hpp"

namespace foretrace::cli {
namespace profile_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  CaptureRun run;
  std::vector<std::string> outputs;
  std::string read;
  int depth = 1;
  std::string start = "on";
  std::size_t top = 10;
  bool json = false;
  bool in_rank = false;  // started by ourselves: the output is the counters' file
};

bool is_counters_file(const std::string& path) {
  return fs::path(path).extension() == ".fprof";
}

void check_outputs(const Options& options) {
  for (const std::string& output : options.outputs) {
    ending_of(output, "profile", {".html", ".json", ".txt", ".fprof"});
    check_writable(output);
  }
}

// Says so where a rank had no room for all that it counted.
bool complain_of_losses(const trace::CallCounters& counters, const std::string& path) {
  const auto lost = std::ranges::find_if(counters.ranks, &trace::RankCounters::error);
  if (lost == counters.ranks.end()) return false;
  std::fprintf(stderr,
               "foretrace: %s: rank %td, and maybe others, could not write all that it counted: "
               "%s; calls are missing, or their call sites, sizes and partners\n",
               path.c_str(), lost - counters.ranks.begin(), std::strerror(lost->error));
  return true;
}

analysis::CallProfile make_profile(const trace::CallCounters& counters) {
  symbols::CallPlaces places;
  return analysis::make_call_profile(
      counters, [&places](const std::string& object, std::uint64_t offset) {
        const symbols::Place& place = places.find(object, offset);
        return analysis::CallFrame{place.function, place.file, place.line,
                                   object,         offset,     symbols::format_place(place)};
      });
}

// Writes what was asked for; without files, prints. False: something of it is missing.
bool show(const std::string& path, const Options& options, bool must_be_complete) {
  const trace::CallCounters counters = trace::read_counters(path);
  const analysis::CallProfile profile = make_profile(counters);
  const views::CallProfileText text{options.top, 16};
  const bool in_text = options.outputs.empty() && !options.json;
  if (profile.shares_cores && !in_text)
    std::fprintf(stderr, "foretrace: WARNING: %s\n", views::warning_of_cores().c_str());
  for (const std::string& output : options.outputs) {
    const std::string ending = fs::path(output).extension().string();
    if (ending == ".html") write_text_file(output, views::render_call_profile_html(profile));
    if (ending == ".json") write_text_file(output, views::render_call_profile_json(profile));
    if (ending == ".txt") write_text_file(output, views::render_call_profile_text(profile, text));
    if (is_counters_file(output) && output != path) trace::write_counters(counters, output);
    std::fprintf(stderr, "foretrace: %s on %d ranks, %llu MPI calls -> %s\n",
                 views::format_time(profile.time.max).c_str(), profile.ranks,
                 static_cast<unsigned long long>(profile.calls), output.c_str());
  }
  if (options.json)
    std::fputs(views::render_call_profile_json(profile).c_str(), stdout);
  else if (options.outputs.empty())
    std::fputs(views::render_call_profile_text(profile, text).c_str(), stdout);
  // The status of MPI_Abort is its code.
  const bool aborted = std::ranges::any_of(counters.ranks, [](const trace::RankCounters& rank) {
    return rank.rank.state == trace::RankState::aborted;
  });
  return !complain_of_losses(counters, path) &&
         (counters.info.complete || aborted || !must_be_complete);
}

int profile(Options& options) {
  if (!options.read.empty()) {
    if (!options.run.program.empty() || options.run.ranks != 0)
      throw UsageError("profile: --read shows a profile that is there; it starts no program");
    check_outputs(options);
    return show(options.read, options, false) ? 0 : 1;
  }
  CaptureRun& run = options.run;
  if (run.ranks == 0 && run.program.size() == 1 && is_counters_file(run.program[0]))
    throw UsageError("profile: " + run.program[0] + " was kept by another run; foretrace profile " +
                     "--read " + run.program[0] + " shows it");
  run.subcommand = "profile";
  run.product = "profile";
  run.environment = {{"FORETRACE_DEPTH", std::to_string(options.depth)},
                     {"FORETRACE_START", options.start}};
  run.own_options = {"--depth", std::to_string(options.depth), "--start", options.start,
                     "--in-rank"};
  if (options.in_rank) {
    run.output = options.outputs.at(0);
    return launch(run).status;
  }
  check_outputs(options);
  for (const std::string& output : options.outputs)
    if (is_counters_file(output)) run.output = output;
  std::unique_ptr<ScratchFolder> scratch;
  if (run.output.empty() && run.ranks > 0) {
    scratch = std::make_unique<ScratchFolder>("the profile");
    run.output = scratch->file("run.fprof");
    run.keeps_output = false;
  }
  // Under a launcher the ranks may be on several hosts: a name that all know.
  if (run.output.empty()) run.output = default_output("foretrace.fprof");
  check_capture_run(run);
  run.returns = run.ranks == 0 && is_first_rank();
  std::optional<OutputAside> aside;
  if (options.json) aside.emplace();
  const LaunchResult result = launch(run);
  aside.reset();
  // Whoever could not complete it has said so.
  const bool whole = result.traced ? show(run.output, options, true)
                                   : !result.gave_up && (options.outputs.empty() || run.ranks == 0);
  return result.status == 0 && !whole ? 1 : result.status;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_program_options(app, options->run);
  app.add_option("-o,--output", options->outputs,
                 "What to write instead of text on the terminal: P.html, P.json, P.txt, or "
                 "P.fprof for --read; can be given several times")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--depth", options->depth, "How many callers tell one call site from another")
      ->check(in_range(1, trace::kMostFrames))
      ->capture_default_str();
  add_start_option(app, options->start);
  add_watcher_options(app, options->run.watch);
  app.add_option("--top", options->top, "Lines of each table on the terminal")
      ->check(in_range(1, 1 << 30))
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print all of it as JSON");
  app.add_option("--read", options->read, "Show a profile that was written before; start nothing");
  app.add_flag("--in-rank", options->in_rank)->group("");
  return [options] { return profile(*options); };
}

}  // namespace
}  // namespace profile_command

const Subcommand kProfile{"profile",
                          "Run an MPI program and show its time by MPI function and call",
                          profile_command::declare,
                          "foretrace profile -n 4 -- ./app\n"
                          "foretrace profile -n 4 -o app.html -o app.json -- ./app input.txt\n"};

}  // namespace foretrace::cli
