// Starting the user's MPI program with the capture library in it.
//
// With -n the MPI's own launcher is started with this tool as its program; in
// each rank (as under the user's mpirun or srun) the tool then becomes the
// program, with the library preloaded.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/pages/watcher.hpp"
#include "cli/programs/mpi_detection.hpp"
#include "cli/system/output_claim.hpp"

namespace foretrace::cli {

struct CaptureRun {
  std::string subcommand;                // "record", "predict"
  int ranks = 0;                         // 0: we are inside a launcher already
  std::optional<std::string> mpi;        // --mpi
  std::vector<std::string> program;      // with its arguments
  std::vector<std::string> own_options;  // to repeat in each rank
  std::vector<std::pair<std::string, std::string>> environment;  // for the library
  std::string output;                                            // the trace; empty: by default
  std::string product = "trace";                                 // what it is called
  bool is_output_named = false;                                  // by -o
  OutputClaim claim;                                             // with ranks: the output's name
  bool keeps_output = true;          // it is the user's; else only ours until we have read it
  bool returns = false;              // without ranks: start the program and wait for it
  std::optional<std::string> yield;  // --yield
  bool allow_invalid = false;        // predict: --allow-invalid
  bool is_compute_given = true;      // predict: somebody said what computation takes
  std::vector<std::string> notes;    // predict: of the machine, that were told; kept with the times
  WatcherOptions watch;              // --watch
};

// Inside a launcher: whether this is its first rank.
bool is_first_rank();
// Whether that has come from the user's launcher, so that nobody else tells what comes of the run.
bool is_users_first_rank();

// `name` if nothing is there, else one with a number, so that another run's result stays; says so.
// With a claim only one that no other run is to write, and claims it.
std::string default_output(const std::string& name, OutputClaim* claim = nullptr);

// Checks that a program was given and that `output` can be written, which becomes
// foretrace.ftr or a name beside it if it is empty, and with ranks claims that. Throws UsageError,
// and Error where another run has the output.
void check_capture_run(CaptureRun& run);
// Throws UsageError where `words` are several programs, as launchers take them ("A : -n 2 B").
void check_one_program(const std::vector<std::string>& words);
// Throws UsageError where a launcher has started several of this process: a live run is one.
void check_live_run(int ranks);

struct LaunchResult {
  int status = 0;            // the program's exit status
  bool traced = false;       // it left a trace in CaptureRun::output
  bool ended_early = false;  // before MPI_Finalize, as far as is known
  bool gave_up = false;      // the library could not begin, and the program ran on without it
};

// With ranks: runs it to its end and returns how it ended; says
// on standard error what went wrong and moves an unfinished trace to its
// place. Without: becomes the program and does not return, or waits for it.
LaunchResult launch(const CaptureRun& run);

// The words that start `ranks` processes of what follows them.
std::vector<std::string> launcher_command(Mpi mpi, int ranks);

}  // namespace foretrace::cli
