#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "analysis/running.hpp"
#include "base/error.hpp"
#include "cli/pages/watcher.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/summary.hpp"
#include "cli/subcommand.hpp"
#include "trace/run_file.hpp"

namespace foretrace::cli {
namespace watch_command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part";
constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr int kLooks = 10;  // that find nobody, or no part file, before it is said

// The run that is named in place of a program, by its part file or by what it will leave; empty:
// it is a program.
std::string named_run(const CaptureRun& run) {
  if (run.ranks > 0 || run.program.empty()) return {};
  const std::string& word = run.program.front();
  if (word.ends_with(kPart)) return word.substr(0, word.size() - kPart.size());
  const std::string ending = fs::path(word).extension().string();
  return ending == ".ftr" || ending == ".fprof" ? word : std::string();
}

// What stands behind the run's name is no program's.
void take_details(const std::vector<std::string>& words, WatcherOptions& options) {
  CLI::App rest;
  rest.set_help_flag();
  add_watcher_details(rest, options);
  try {
    rest.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& error) {
    throw UsageError("watch: " + std::string(error.what()));
  }
}

// A part file that is being begun is not whole for a moment. Throws Error where it stays so: it is
// none.
void check_part(const std::string& part) {
  for (int look = 1;; ++look) {
    try {
      analysis::open_run(part, {});
      return;
    } catch (const Error&) {
      if (!fs::exists(part)) return;
      if (look == kLooks) throw;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// Looks at a run that somebody else has started, until its part file is no more.
int watch_run(const std::string& output, const WatcherOptions& options) {
  const std::string part = output + std::string(kPart);
  if (!fs::exists(part))
    throw Error(part + ": no such file" +
                (fs::exists(output) ? "; the run that left " + output + " has ended"
                                    : "; a run has it from MPI_Init until it ends"));
  check_part(part);
  {
    const Watcher watcher(output, options);
    int unwritten = 0;  // looks in a row
    while (fs::exists(part)) {
      if (unwritten < kLooks &&
          (unwritten = trace::is_written_here(part) ? 0 : unwritten + 1) == kLooks)
        std::fprintf(stderr,
                     "foretrace: no process of this host writes %s: the run is on other hosts, or "
                     "has died; Ctrl-C ends the watching\n",
                     part.c_str());
      std::this_thread::sleep_for(kPoll);
    }
  }
  std::fprintf(stderr, "foretrace: the run has ended%s\n",
               fs::exists(output) ? (" -> " + output).c_str() : "");
  return 0;
}

int watch(CaptureRun& run) {
  if (const std::string output = named_run(run); !output.empty()) {
    take_details(run.program, run.watch);
    return watch_run(output, run.watch);
  }
  run.subcommand = "watch";
  if (run.ranks == 0)
    throw UsageError(
        "watch: give -n RANKS and a program, or the name of a run that is under way "
        "(RUN.ftr.part)");
  run.watch.on = true;
  check_capture_run(run);
  // The ranks record; the watching is done from here.
  run.subcommand = "record";
  run.own_options = {"--clock", "wall"};
  return finish_run(run, launch(run), false);
}

std::function<int()> declare(CLI::App& app) {
  const auto run = std::make_shared<CaptureRun>();
  add_capture_options(app, *run);
  add_watcher_details(app, run->watch);
  return [run] { return watch(*run); };
}

}  // namespace
}  // namespace watch_command

const Subcommand kWatch{"watch", "Show what the ranks of a program do while it runs",
                        watch_command::declare,
                        "foretrace watch -n 8 -- ./app\n"
                        "foretrace watch -n 8 -o run.ftr --no-browser -- ./app\n"
                        "foretrace watch run.ftr.part\n"};

}  // namespace foretrace::cli
