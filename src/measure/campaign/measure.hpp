// What `foretrace measure` does: starts the characterisation program several
// times, collects its samples, fits the machine model and writes both.
//
// How a program is started under MPI is the caller's business. No MPI here.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/fit/fit.hpp"

namespace foretrace::measure {

// By this variable the tool names the file on which the file functions are measured, so that
// it can remove it where the ranks were killed before they could.
inline constexpr const char* kScratchVariable = "FORETRACE_MEASURE_SCRATCH";

enum class EffortLevel { quick, normal, thorough };

struct MeasureOptions {
  int ranks = 2;
  std::string mpi;     // "openmpi" or "mpich": the program is foretrace-measure-<mpi>
  std::string output;  // M.toml; the samples lie beside it in M.samples.csv
  EffortLevel effort = EffortLevel::normal;
  int launches = 0;   // starts of the program; 0: by effort, and more if they differ
  double budget = 0;  // seconds for all launches; 0: by effort
  double target = 0;  // relative half width at which launches are enough; 0: by effort
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> max_bytes;
  bool start_by_barrier = false;  // else at agreed readings of a common clock
  bool cold = false;              // buffers that nobody touched lately
  bool fresh = false;             // do not go on with what an interrupted one left
  bool keep_invalid = false;      // write a model in which no function can be trusted, too
  bool progress = false;          // a bar, not lines
  std::string launcher;           // the words that start the ranks; empty: the MPI's own
  std::string name;               // of the machine; empty: the host's, with the MPI and the ranks
  FitSettings fit;

  // Runs the program `argv[0]` (a bare name) with its arguments on `ranks`
  // ranks and returns its exit status.
  std::function<int(const std::vector<std::string>& argv)> launch;
  std::ostream* table = nullptr;     // the summary; nullptr: none
  std::ostream* messages = nullptr;  // warnings and progress; nullptr: none
};

// "M.toml" -> "M.samples.csv".
std::string samples_path(const std::string& model_path);

// Measures, fits, writes both files and prints the summary. Returns 0; throws
// Error. Files that were there are replaced only once everything is done. What
// an interrupted measurement with the same options left is used. Without a function
// that can be trusted no model is written: UsageError for more ranks than cores,
// else Error, and the samples are kept.
int run_measure(const MeasureOptions& options);

// Finds the protocol's thresholds alone, and prints them as they stand in a
// samples file.
int find_thresholds_only(const MeasureOptions& options, std::ostream& out);

// Fits the samples beside `options.output` again, without measuring.
int refit(const MeasureOptions& options);

// One line for each function: samples, mean and largest relative error of the
// fit and where it is, share of blocks without a context switch.
// Functions in `invalid` are marked.
void print_reports(std::ostream& out, const FitOutcome& outcome,
                   const std::set<std::string>& invalid);

}  // namespace foretrace::measure
