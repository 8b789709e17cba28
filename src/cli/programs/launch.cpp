#include "cli/programs/launch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "cli/programs/elf_program.hpp"
#include "cli/programs/standstill.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "trace/run_file.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

// As what the library tells of the trace, where nobody else does; empty: somebody does.
constexpr const char* kTellVariable = "FORETRACE_TELL";

// What a launcher started is refused: the first process says why, before the launcher
// sees another one end and ends them all.
[[noreturn]] void refuse_under(const Launcher& launcher, const std::string& why) {
  if (launcher.first || launcher.size == 1) throw UsageError(why);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::_Exit(2);
}

std::string started_by(const Launcher& launcher) {
  return std::string(name_of(launcher.kind)) + " has started " +
         (launcher.size == 0   ? "this process"
          : launcher.size == 1 ? "1 process"
                               : std::to_string(launcher.size) + " processes");
}

// Batch systems run single processes, too, for the user to start others from.
bool starts_ranks(const Launcher& launcher) {
  return launcher.size > 1 || launcher.kind == LauncherKind::openmpi ||
         launcher.kind == LauncherKind::hydra;
}

// A program whose MPI does not know the launcher would run as often as there are processes,
// each time alone. Where that cannot be told from here, the library finds out.
void check_launcher(const Launcher& launcher, const std::string& path, Mpi mpi,
                    const CaptureRun& run) {
  const bool deaf =
      (mpi == Mpi::openmpi && launcher.kind == LauncherKind::hydra) ||
      (mpi == Mpi::mpich && launcher.kind == LauncherKind::openmpi && !loads(path, "libpmix.so"));
  if (!deaf || launcher.size <= 1) return;
  const std::string name = name_of(mpi);
  refuse_under(launcher, run.program.front() + " was built for " +
                             (mpi == Mpi::openmpi ? "Open MPI" : "MPICH") + ", but " +
                             started_by(launcher) +
                             ", each of which would be rank 0 of 1; use mpirun." + name + " -n " +
                             std::to_string(launcher.size) + ", or foretrace " + run.subcommand +
                             " -n " + std::to_string(launcher.size) + " without a launcher");
}

std::string capture_library(Mpi mpi) {
  if (mpi == Mpi::standard)
    throw UsageError(
        "the program is compiled for MPI's standard ABI (foretrace-cc), which runs live only: "
        "foretrace simulate -n RANKS --machine M.toml -- PROGRAM; or compile it with mpicc");
  const std::string path =
      library_directory() + "/libforetrace-" + std::string(name_of(mpi)) + ".so";
  if (!fs::exists(path))
    throw Error(path + ": the capture library is missing: Foretrace was built without " +
                name_of(mpi) + "; install its development package and build again");
  check_preloadable(path);
  return path;
}

// Sets the environment for the program. It sees the name by which it was called.
void prepare_program(const CaptureRun& run, Mpi mpi) {
  let_asan_stand_behind(find_program(run.program.front()));
  for (const auto& [name, value] : run.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (run.yield) ::setenv("FORETRACE_YIELD", run.yield->c_str(), 1);
  ::setenv("FORETRACE_MODE", run.subcommand.c_str(), 1);
  ::setenv("FORETRACE_OUTPUT", fs::absolute(run.output).c_str(), 1);
  std::string preload = capture_library(mpi);
  // A tool that defines MPI_X stands before ours, as it stands before MPI; what it calls as PMPI_X
  // is followed.
  if (const char* others = std::getenv("LD_PRELOAD"); others && *others)
    preload.insert(0, std::string(others) + ":");
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
}

// The program ran, but no rank's library has seen it.
std::string why_untraced(const CaptureRun& run, const std::string& path, int status) {
  if (status != 0)
    return "the ranks ended with status " + std::to_string(status) + " before MPI_Init";
  if (read_elf(path).uses_sessions)
    return "no rank called MPI_Init; MPI sessions alone are not followed";
  // Given where it cannot be seen that the program uses MPI.
  if (run.mpi)
    return "no rank came to MPI_Init; functions of MPI that a program looks up by dlsym (ctypes, "
           "Julia) are not followed";
  return "no rank came to MPI_Init";
}

struct FileIdentity {
  ino_t inode = 0;
  time_t seconds = 0;
  long nanoseconds = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// What is left by a library that could not begin, and has said why, goes.
bool take_away_empty(const CaptureRun& run) {
  const std::string part = run.output + ".part";
  std::error_code none;
  if (!fs::exists(part, none) || fs::file_size(part, none) != 0) return false;
  fs::remove(part, none);
  std::fprintf(stderr, "foretrace: no %s was written\n", run.product.c_str());
  return true;
}

// The program as this rank of the user's launcher; others may still be running
// when it has ended.
LaunchResult run_in_place(const CaptureRun& run, Mpi mpi) {
  const FileIdentity before = identity_of(run.output);
  ::setenv(kTellVariable, "", 1);  // what was written is told here
  prepare_program(run, mpi);
  const int status = run_and_wait(run.program);
  if (take_away_empty(run)) return {status, false, false, true};
  const bool traced = identity_of(run.output) != before;
  const bool ended_early = !traced && fs::exists(run.output + ".part");
  if (ended_early)
    std::fprintf(stderr, "foretrace: the run ended before MPI_Finalize; %s.part may hold a %s\n",
                 run.output.c_str(), run.product.c_str());
  return {status, traced, ended_early};
}

}  // namespace

std::string default_output(const std::string& name, OutputClaim* claim) {
  // The run that had the name may have ended meanwhile, and left its output.
  std::string free = unused_name(name, [claim](const std::string& other) {
    return !claim || (claim->take(other) && !fs::exists(other));
  });
  const bool is_said = find_launcher() && !is_first_rank();
  if (free == name || is_said) return free;
  const bool is_there = fs::exists(fs::symlink_status(name));
  std::fprintf(stderr, "foretrace: %s is %s; this run goes to %s%s\n", name.c_str(),
               is_there ? "there already" : "being written by another run", free.c_str(),
               is_there ? " (-o overwrites)" : "");
  return free;
}

// Behind the program's name `-o x.ftr` is an argument of the program, and rarely meant so.
static void tell_of_late_output(const CaptureRun& run) {
  const auto& words = run.program;
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if ((words[i] == "-o" || words[i] == "--output") && words[i + 1].ends_with(".ftr"))
      std::fprintf(stderr,
                   "foretrace: %s %s stands behind the program and goes to it; options of "
                   "foretrace stand before it\n",
                   words[i].c_str(), words[i + 1].c_str());
}

void check_capture_run(CaptureRun& run) {
  if (run.program.empty())
    throw UsageError("no program given: foretrace " + run.subcommand +
                     " -n RANKS -o FILE -- PROGRAM [ARGUMENTS]");
  const std::optional<Launcher> launcher = find_launcher();
  if (run.ranks == 0 && !launcher) throw UsageError("give -n RANKS, or start under mpirun or srun");
  if (run.ranks > 0 && launcher && starts_ranks(*launcher))
    refuse_under(*launcher, run.subcommand + " -n " + std::to_string(run.ranks) + ": " +
                                started_by(*launcher) +
                                " already, and -n would start more from each; "
                                "leave out -n, or leave out the launcher");
  if (run.ranks > 0) check_one_program(run.program);
  if (run.ranks == 0 && run.watch.on)
    throw UsageError("--watch: give -n RANKS; what another launcher has started is shown by " +
                     std::string("foretrace watch OUTPUT.part, beside it"));
  // What cannot run is told before where its trace would go.
  const std::string path = find_program(run.program.front());
  run.is_output_named = !run.output.empty();
  if (run.product == "trace") check_trace_output(run.output, run.subcommand.c_str());
  const char* const name = "foretrace.ftr";
  check_writable(run.is_output_named ? run.output : name);
  if (run.ranks > 0) mpi_of(path, run.mpi);
  OutputClaim* const claim = run.ranks > 0 ? &run.claim : nullptr;
  if (!run.is_output_named && claim) tell_of_late_output(run);
  if (!run.is_output_named)
    run.output = default_output(name, claim);
  else if (claim)
    run.claim = OutputClaim(run.output);
}

void check_one_program(const std::vector<std::string>& words) {
  if (std::ranges::find(words, ":") == words.end()) return;
  throw UsageError(
      "':' is between several programs, but -n starts one; for several start each under the MPI's "
      "launcher: mpirun -n 1 foretrace record -o RUN.ftr -- A : -n 2 foretrace record -o RUN.ftr "
      "-- B");
}

void check_live_run(int ranks) {
  const std::optional<Launcher> launcher = find_launcher();
  if (launcher && launcher->size > 1)
    refuse_under(*launcher, "simulate -n " + std::to_string(ranks) + ": " + started_by(*launcher) +
                                " already, and each would simulate the whole program; "
                                "leave out the launcher");
}

bool is_first_rank() {
  const std::optional<Launcher> launcher = find_launcher();
  return launcher && launcher->first;
}

bool is_users_first_rank() {
  return is_first_rank() && std::getenv(kTellVariable) == nullptr;
}

std::vector<std::string> launcher_command(Mpi mpi, int ranks) {
  std::vector<std::string> command{std::string("mpirun.") + name_of(mpi)};
  if (mpi == Mpi::openmpi) {
    command.push_back("--oversubscribe");
    // Open MPI refuses to start as root unless told twice.
    if (::geteuid() == 0) {
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
  }
  command.insert(command.end(), {"-n", std::to_string(ranks)});
  return command;
}

LaunchResult launch(const CaptureRun& run) {
  const std::string path = find_program(run.program.front());
  const Mpi mpi = mpi_of(path, run.mpi);
  if (const auto launcher = find_launcher(); run.ranks == 0 && launcher)
    check_launcher(*launcher, path, mpi, run);
  if (run.ranks == 0 && run.returns) return run_in_place(run, mpi);
  if (run.ranks == 0) {
    ::setenv(kTellVariable, run.output.c_str(), 0);
    prepare_program(run, mpi);
    replace_process(run.program);
  }
  capture_library(mpi);  // a missing one is better found before the launch

  const std::string part = run.output + ".part";
  trace::remove_left_over(part);
  // A trace that is there already stays if this run writes none; it is not
  // this run's then. Sealing replaces the file, so the new one differs in this.
  const FileIdentity before = identity_of(run.output);
  std::vector<std::string> command = launcher_command(mpi, run.ranks);
  command.insert(command.end(), {own_path(), run.subcommand});
  command.insert(command.end(), run.own_options.begin(), run.own_options.end());
  if (run.yield) command.insert(command.end(), {"--yield", *run.yield});
  command.insert(command.end(), {"--mpi", name_of(mpi), "-o", run.output, "--"});
  command.insert(command.end(), run.program.begin(), run.program.end());
  ::setenv(kTellVariable, "", 1);  // what was written is told here
  int status = 0;
  {
    std::optional<StandstillWatch> standstill;
    if (run.product == "trace") standstill.emplace(part);
    std::optional<Watcher> watcher;
    if (run.watch.on) watcher.emplace(run.output, run.watch);
    status = run_and_wait(command);
  }
  // Open MPI's launcher leaves at once when it is interrupted twice; its ranks see that a little
  // later.
  constexpr std::chrono::seconds kDying{10};
  const bool held = interrupting_signal() != 0 ? is_held(part, kDying) : is_held(part);
  // MPICH's launcher ends with 0 when it is interrupted.
  if (status == 0 && interrupting_signal() != 0 && fs::exists(part))
    status = 128 + interrupting_signal();
  if (take_away_empty(run)) return {status, false, false, true};
  // One that other commands have started took the name first; the ranks have said so.
  if (held) {
    if (interrupting_signal() != 0)
      std::fprintf(stderr,
                   "foretrace: %s is still being written, by ranks that go on or by another run\n",
                   part.c_str());
    return {status, false, false, true};
  }
  const bool ended_early = fs::exists(part);
  if (ended_early) {
    // The run did not come to its end; what there is becomes the result.
    fs::rename(part, run.output);
    if (run.keeps_output)
      std::fprintf(
          stderr,
          "foretrace: the run ended before MPI_Finalize; %s holds what happened until then\n",
          run.output.c_str());
  }
  const bool traced = identity_of(run.output) != before;
  if (!traced)
    std::fprintf(stderr, "foretrace: %s; no %s was written%s\n",
                 why_untraced(run, path, status).c_str(), run.product.c_str(),
                 before == FileIdentity()
                     ? ""
                     : ("; " + run.output + " is of an earlier run and was left as it is").c_str());
  return {status, traced, ended_early};
}

}  // namespace foretrace::cli
