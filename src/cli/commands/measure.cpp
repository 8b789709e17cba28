#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "cli/programs/launch.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/option_values.hpp"
#include "measure/campaign/measure.hpp"

namespace foretrace::cli {
namespace measure_command {
namespace {

struct Options {
  int ranks = 0;
  std::string mpi = "openmpi";
  std::string launch;
  std::string output;
  bool quick = false;
  bool thorough = false;
  bool refit = false;
  bool fresh = false;
  bool keep_invalid = false;
  bool thresholds = false;
  int launches = 0;
  double budget = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t seed = 1;
  std::string start = "clock";
  std::string buffers = "warm";
  std::string name;
};

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

void check_output(const std::string& output) {
  if (output.empty()) throw UsageError("give the machine model to write with -o M.toml");
  ending_of(output, "measure", {".toml"});
  check_writable(output);
}

// Where the ranks may have made it; a launcher that is interrupted kills them at once.
void remove_scratch(const std::string& output, const std::string& name) {
  const std::filesystem::path beside = std::filesystem::path(output).parent_path();
  const char* const temporary = std::getenv("TMPDIR");
  std::error_code ignored;
  for (const auto& folder : {beside, std::filesystem::path(temporary ? temporary : "/tmp")})
    std::filesystem::remove(folder / name, ignored);
}

int measure(const Options& options) {
  const Mpi mpi = parse_mpi(options.mpi);
  if (mpi == Mpi::standard)
    throw UsageError(
        "Foretrace's own library for the standard ABI cannot be measured; use --mpi "
        "openmpi or mpich");
  if (options.ranks == 0 && !options.refit)
    throw UsageError("give -n RANKS, the number of ranks to measure with");
  if (options.quick && options.thorough)
    throw UsageError("--quick and --thorough exclude each other");
  if (!options.thresholds) check_output(options.output);
  measure::MeasureOptions how;
  how.ranks = options.ranks;
  how.mpi = name_of(mpi);
  how.output = options.output;
  how.effort = options.quick      ? measure::EffortLevel::quick
               : options.thorough ? measure::EffortLevel::thorough
                                  : measure::EffortLevel::normal;
  how.launches = options.launches;
  how.budget = options.budget;
  how.seed = options.seed;
  if (options.max_bytes > 0) how.max_bytes = options.max_bytes;
  how.start_by_barrier = options.start == "barrier";
  how.cold = options.buffers == "cold";
  how.fresh = options.fresh;
  how.keep_invalid = options.keep_invalid;
  how.launcher = options.launch;
  how.name = options.name;
  how.progress = ::isatty(STDERR_FILENO) != 0;
  how.table = &std::cout;
  how.messages = &std::cerr;
  how.launch = [&](const std::vector<std::string>& argv) {
    std::vector<std::string> command =
        options.launch.empty() ? launcher_command(mpi, options.ranks) : split_words(options.launch);
    command.push_back(library_directory() + "/" + argv.front());
    command.insert(command.end(), argv.begin() + 1, argv.end());
    const std::string scratch = "foretrace-measure-" + std::to_string(::getpid()) + ".tmp";
    ::setenv(measure::kScratchVariable, scratch.c_str(), 1);
    const int status = run_and_wait(command);
    // MPICH's launcher ends with 0 when it is interrupted.
    if (status != 0 || interrupting_signal() != 0) remove_scratch(options.output, scratch);
    if (interrupting_signal() != 0)
      throw Error(options.thresholds ? "interrupted" : "interrupted; the same command goes on");
    return status;
  };
  if (options.thresholds) return measure::find_thresholds_only(how, std::cout);
  return options.refit ? measure::refit(how) : measure::run_measure(how);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("-n", options->ranks, "Number of ranks; at most one per core")
      ->check(in_range(2, 1 << 24));
  app.add_option("--mpi", options->mpi, "The MPI to measure: openmpi or mpich")
      ->check(offers(kMpiWords))
      ->capture_default_str();
  app.add_option("--launch", options->launch,
                 "The words that start the ranks, instead of mpirun -n RANKS");
  app.add_option("-o,--output", options->output, "The machine model to write (TOML)");
  app.add_flag("--quick", options->quick, "Five short launches, under a minute");
  app.add_flag("--thorough", options->thorough, "More launches, more sizes");
  app.add_option("--launches", options->launches, "Number of launches in one state of the machine")
      ->check(in_range(1, 1000));
  app.add_option("--budget", options->budget, "Seconds that all launches may take")
      ->check(in_range(1.0, 1e6));
  app.add_option("--max-bytes", options->max_bytes, "The largest message; 4 MiB if not given")
      ->transform(size_in_bytes())
      ->check(in_range(std::uint64_t{1}, std::uint64_t{1} << 30));
  app.add_option("--seed", options->seed, "Of the order in which things are measured")
      ->capture_default_str();
  app.add_option("--start", options->start,
                 "How ranks start together: clock (at agreed readings) or barrier")
      ->check(CLI::IsMember({"clock", "barrier"}))
      ->capture_default_str();
  app.add_option("--buffers", options->buffers,
                 "warm: used again and again; cold: nobody touched them lately")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->capture_default_str();
  app.add_flag("--fresh", options->fresh, "Do not go on with an unfinished measurement");
  app.add_flag("--keep-invalid", options->keep_invalid,
               "Write the model even if no function in it can be trusted");
  app.add_flag("--thresholds", options->thresholds,
               "Only find the protocol's thresholds and print them");
  app.add_option("--name", options->name, "The machine's name in the model");
  app.add_flag("--refit", options->refit,
               "Fit the samples that are there again, without measuring");
  return [options] { return measure(*options); };
}

}  // namespace
}  // namespace measure_command

const Subcommand kMeasure{"measure", "Measure a machine's MPI into a machine model",
                          measure_command::declare,
                          "foretrace measure -n 2 --quick -o laptop.toml\n"
                          "foretrace measure -n 64 --launch \"srun -n 64\" -o cluster.toml\n"};

}  // namespace foretrace::cli
