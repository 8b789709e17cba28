#include "cli/live_run.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cli/mpi_detection.hpp"
#include "cli/process.hpp"
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

}  // namespace

live::Command prepare_live(const std::vector<std::string>& program,
                           const std::optional<std::string>& mpi_name, SimulationOptions& options) {
  live::Command command;
  command.words = program;
  command.words.front() = find_program(program.front());
  const Mpi mpi = mpi_of(command.words.front(), mpi_name);
  command.library = library_directory() + "/live/" + name_of(mpi) + "/" + library_name(mpi);
  if (!std::filesystem::exists(command.library))
    throw Error(command.library + ": the library is missing: Foretrace was built without " +
                name_of(mpi) + "; install its development package and build again");
  command.launcher = launcher_of(mpi);
  options.live_mpi = name_of(mpi);
  options.input.clear();
  for (const std::string& word : program)
    options.input += (options.input.empty() ? "" : " ") + word;
  if (options.compute == "recorded") options.compute = "measured";
  return command;
}

int run_live(const Simulation& simulation, const live::Command& program,
             const RunOptions& options) {
  live::LiveSource source(program, simulation.ranks(), simulation.spare_ranks(),
                          simulation.live_compute(), simulation.nodes(), simulation.eager_bytes());
  live::end_runs_on_signals();
  const auto tell = [](const std::string& text) {
    if (!text.empty()) std::fprintf(stderr, "foretrace: %s\n", text.c_str());
  };
  try {
    RunOptions own = options;
    own.live = true;
    const std::unique_ptr<sim::Source> timed = simulation.with_times(source);
    run_once(simulation, timed ? *timed : source, own);
  } catch (const live::RunEnded& end) {
    tell(source.left_without_finalize());
    tell(end.message);
    return end.status;
  } catch (const Error&) {
    tell(source.left_without_finalize());
    throw;
  }
  tell(source.left_without_finalize());
  tell(source.left_communicators());
  return source.wait_for_processes();
}

}  // namespace foretrace::cli
