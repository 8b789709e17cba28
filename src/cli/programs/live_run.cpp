#include "cli/programs/live_run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/mpi_detection.hpp"
#include "cli/system/process.hpp"
#include "cli/traces/damage.hpp"
#include "live/live_source.hpp"

namespace foretrace::cli {

namespace {

// The name by which programs ask for their MPI.
const char* library_name(Mpi mpi) {
  switch (mpi) {
    case Mpi::openmpi:
      return "libmpi.so.40";
    case Mpi::mpich:
      return "libmpich.so.12";
    case Mpi::standard:
      break;
  }
  return "libmpi_abi.so.0";
}

live::Launcher launcher_of(Mpi mpi) {
  return mpi == Mpi::openmpi ? live::Launcher::openmpi
         : mpi == Mpi::mpich ? live::Launcher::mpich
                             : live::Launcher::any;
}

void say(const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "foretrace: %s\n", text.c_str());
}

// "rank 3", "ranks 0-2, 5"; ascending.
std::string in_words(const std::vector<int>& ranks) {
  std::string list;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    list += (list.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) list += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

// Where the ranks were that did not come to their end; those together that were in the
// same call. Nothing where nobody came to MPI.
// Of the ranks `spare` are for what the program starts itself.
void tell_whereabouts(live::LiveSource& source, int spare) {
  std::map<std::string, std::vector<int>> places;
  bool any = false;
  for (int r = 0; r < source.ranks(); ++r) {
    const std::string call = source.last_call(WorldRank(r));
    any = any || !call.empty();
    const bool wanted = !call.empty() || r < source.ranks() - spare;
    if (wanted && !source.is_finalized(WorldRank(r)))
      places[call.empty() ? "had not come to MPI_Init" : "last seen " + call].push_back(r);
  }
  if (!any) return;
  std::vector<std::pair<std::vector<int>, std::string>> lines;
  for (auto& [place, ranks] : places) lines.emplace_back(std::move(ranks), place);
  std::ranges::sort(lines);
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
    say(in_words(lines[i].first) + ": " + lines[i].second);
  if (lines.size() > kMost)
    say("and ranks in " + std::to_string(lines.size() - kMost) + " other calls");
}

}  // namespace

namespace {

// A trace beside -n is a mistake that "cannot run it" would not explain.
void refuse_trace(const std::string& program) {
  const std::string ending = std::filesystem::path(program).extension().string();
  const bool is_trace = ending == ".ftr" || ending == ".goal" || ending == ".ti";
  std::error_code ignored;
  if (is_trace && std::filesystem::is_regular_file(program, ignored))
    throw UsageError("simulate: -n starts a program live; " + program +
                     " is a trace, which has its own number of ranks: leave out -n");
}

}  // namespace

live::Command prepare_live(const std::vector<std::string>& program,
                           const std::optional<std::string>& mpi_name, SimulationOptions& options) {
  check_one_program(program);
  refuse_trace(program.front());
  live::Command command;
  command.words = program;
  command.path = find_program(program.front());
  const Mpi mpi = mpi_of(command.path, mpi_name);
  command.library = library_directory() + "/live/" + name_of(mpi) + "/" + library_name(mpi);
  if (!std::filesystem::exists(command.library))
    throw Error(command.library +
                ": the library is missing: make demo does not build it, nor does a build " +
                "without " + name_of(mpi) + "; install its development package and run make");
  check_preloadable(command.library);
  let_asan_stand_behind(command.path);
  command.launcher = launcher_of(mpi);
  if (mpi_name) command.hint = "does the program use the MPI that --mpi names?";
  options.live_mpi = name_of(mpi);
  options.input.clear();
  for (const std::string& word : program)
    options.input += (options.input.empty() ? "" : " ") + word;
  if (options.compute == "recorded") options.compute = "measured";
  return command;
}

int run_live(const Simulation& simulation, const live::Command& program, const RunOptions& options,
             const WatcherOptions& watch) {
  live::LiveSource source(program, simulation.ranks(), simulation.spare_ranks(),
                          simulation.live_compute(), simulation.placed_nodes(),
                          simulation.eager_bytes());
  live::take_signals();
  source.on_standstill([&] {
    say("for " + std::to_string(live::Standstill::kLongEnough.count()) +
        " seconds no rank has done anything but look for what does not come:");
    tell_whereabouts(source, simulation.spare_ranks());
    say("the run goes on; Ctrl-C ends it");
  });
  source.on_silence([&](WorldRank rank) {
    say("for " + std::to_string(live::LiveSource::kLongSilence.count()) + " seconds rank " +
        std::to_string(rank.value) +
        " has made no MPI call that could find out anything of others, and all others wait for it. "
        "If it waits for one of them by memory that they "
        "share, the run will not end: call MPI_Win_sync or MPI_Wtime in that loop");
  });
  int status = 0;
  Time time;
  try {
    RunOptions own = options;
    own.live = true;
    // A prediction is made for a program that has come to its end.
    own.simulated = [&](sim::SimulateResult& result) {
      status = source.wait_for_processes();
      time = result.time;
      for (std::size_t rank = 0; rank < result.left_requests.size(); ++rank)
        result.left_requests[rank] -= std::min(
            result.left_requests[rank], source.freed_requests(WorldRank(static_cast<int>(rank))));
    };
    own.opened = [&source](sim::FileSink& sink) {
      source.on_operation([&sink](WorldRank rank, const sim::Operation& operation) {
        sink.began(rank, operation);
      });
    };
    std::optional<Watcher> watcher;
    if (watch.on) watcher.emplace(own.output, watch, [&source] { return source.processes(); });
    const std::unique_ptr<sim::Source> timed = simulation.with_times(source);
    run_once(simulation, timed ? *timed : source, own);
  } catch (const live::RunEnded& end) {
    say(source.left_without_finalize());
    say(end.message);
    if (!end.said) tell_whereabouts(source, simulation.spare_ranks());
    // As JSON it is printed from memory, and written only when it is whole.
    if (!options.json) tell_what_is_there(options.output);
    return end.status;
  } catch (const Error&) {
    say(source.left_without_finalize());
    throw;
  }
  say(source.left_without_finalize());
  say(source.left_communicators());
  say(source.waited_and_counted(time));
  say(source.waited_otherwise(time));
  if (const std::string compute = simulation.compute_without_sleep(); !compute.empty())
    say(source.slept(time, compute));
  else
    say(source.lacked_cores(time));
  say(source.announced_beside_others(time));
  if (simulation.counts_announcements()) say(source.announced_unasked());
  say(source.looked_for_nothing(time));
  return status;
}

}  // namespace foretrace::cli
