// What sub-commands that make traces have in common: options and the closing
// lines on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/programs/launch.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::cli {

// -n, --mpi and the program.
void add_program_options(CLI::App& app, CaptureRun& run);
// And -o, a trace.
void add_capture_options(CLI::App& app, CaptureRun& run);

// --sample N: kernels that are executed N times (foretrace.h); 0: not given.
void add_sample_option(CLI::App& app, int& samples);
// Says what becomes of the program's results.
void warn_of_samples(int samples);

// --start on|off: whether the program begins as after MPI_Pcontrol(1) or (0).
void add_start_option(CLI::App& app, std::string& start, bool or_never = false);

// --wtime virtual|real: what the clocks that the program reads show.
void add_wtime_option(CLI::App& app, std::string& wtime, const char* what);
// --waits measured|none: whether what ranks wait for files or other processes is computation.
void add_waits_option(CLI::App& app, std::string& waits);

// After a run that should leave a trace: the time it took or will take, ranks that did not
// come to their end, calls that carry no virtual time; no time where something of the trace
// is missing. The exit status: that of the program, and 1 where that is 0 but not all of the
// trace could be written; with `must_trace` also where there is none. `model`: where predicted
// times come from; calls that it has nothing for are named.
int finish_run(const CaptureRun& run, const LaunchResult& result, bool must_trace,
               const machine::MachineModel* model = nullptr);

}  // namespace foretrace::cli
