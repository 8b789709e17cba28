#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "cli/explain/baseline.hpp"
#include "cli/machines/notes.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/summary.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/process.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/words/option_values.hpp"
#include "machine/machine_file.hpp"
#include "measure/core/cache_line.hpp"
#include "measure/core/functions.hpp"
#include "study/quiet.hpp"
#include "views/report/validation.hpp"

namespace foretrace::cli {
namespace validate_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  CaptureRun run;
  std::string machine;
  std::string compute = "measured";
  std::string scale_from;
  std::string within;
  std::vector<std::string> real;       // traces, instead of running the program
  std::vector<std::string> predicted;  // the same
  std::vector<std::string> untraced;   // the same, or none
  int runs = 5;
  std::size_t causes = 5;
  bool json = false;
};

// Our standard streams go to a file for a while.
class Silence {
 public:
  explicit Silence(const std::string& log) {
    std::fflush(nullptr);
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0) throw Error(log + ": cannot be written");
    for (int i = 0; i < 2; ++i) {
      kept_[i] = ::fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
      ::dup2(to, i + 1);
    }
    ::close(to);
  }
  ~Silence() {
    for (int i = 0; i < 2; ++i) {
      ::dup2(kept_[i], i + 1);
      ::close(kept_[i]);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int kept_[2];
};

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> words_before_program(const Options& options, const std::string& verb,
                                              const std::string& output) {
  std::vector<std::string> words{own_path(), verb,  "-n", std::to_string(options.run.ranks),
                                 "-o",       output};
  if (options.run.mpi) words.insert(words.end(), {"--mpi", *options.run.mpi});
  return words;
}

// Runs one of our own commands, which leaves the trace `output`; what it said.
std::string run_quietly(const ScratchFolder& folder, std::vector<std::string> command,
                        const std::string& output) {
  const std::string log = folder.file("log");
  int status = 0;
  {
    const Silence silence(log);
    status = run_and_wait(command);
  }
  if (interrupting_signal() != 0) throw Error("interrupted; nothing was compared");
  const std::string said = text_of(log);
  if (status == 0 && fs::exists(output)) return said;
  const bool has_program = std::ranges::find(command, "--") != command.end();
  throw Error("a run ended with status " + std::to_string(status) + "; foretrace " + command[1] +
              (has_program ? " and the program, whose lines do not begin with 'foretrace:'," : "") +
              " said:\n" + said);
}

trace::Trace run_program(const Options& options, const ScratchFolder& folder,
                         const std::string& verb, const std::vector<std::string>& more,
                         const std::string& output, std::string& said) {
  std::vector<std::string> command = words_before_program(options, verb, output);
  command.insert(command.end(), more.begin(), more.end());
  command.emplace_back("--");
  command.insert(command.end(), options.run.program.begin(), options.run.program.end());
  said = run_quietly(folder, std::move(command), output);
  return trace::read_trace(output);
}

// measured[:SCALE] is recorded[:SCALE] of a trace.
std::string replayed_compute(const std::string& compute) {
  constexpr std::string_view kMeasured = "measured";
  if (!compute.starts_with(kMeasured)) return compute;
  return "recorded" + compute.substr(kMeasured.size());
}

struct Runs {
  std::vector<Time> untraced;
  std::vector<trace::Trace> measured;
  std::vector<trace::Trace> predicted;
  std::vector<trace::Trace> simulated;
  std::vector<std::string> notes[2];
};

// Each kind in turn, so that a machine that changes meanwhile changes for all.
Runs run_all(const Options& options, const ScratchFolder& folder) {
  // What a function that measure calls INVALID does to the prediction is a finding.
  std::vector<std::string> of_model{"--machine", options.machine, "--allow-invalid"};
  if (!options.scale_from.empty())
    of_model.insert(of_model.end(), {"--scale-from", options.scale_from});
  std::vector<std::string> predicting = of_model;
  predicting.insert(predicting.end(), {"--compute", options.compute});
  Runs runs;
  const auto note = [](std::vector<std::string>& notes, const std::string& said) {
    std::istringstream lines(said);
    constexpr std::string_view kOurs = "foretrace: ";
    for (std::string line; std::getline(lines, line);) {
      const bool tells =
          line.starts_with(kOurs) &&
          (line.find("no time") != std::string::npos ||
           line.find("extrapolated") != std::string::npos ||
           line.find("INVALID") != std::string::npos || line.find("trust") != std::string::npos);
      if (tells) notes.push_back(line.substr(kOurs.size()));
    }
  };
  for (int i = 0; i < options.runs; ++i) {
    std::string said;
    runs.untraced.push_back(analysis::program_time(
        run_program(options, folder, "record", {"--clock", "wall", "--start", "never"},
                    folder.file("untraced.ftr"), said)));
    runs.measured.push_back(run_program(options, folder, "record", {"--clock", "wall"},
                                        folder.file("measured.ftr"), said));
    runs.predicted.push_back(
        run_program(options, folder, "predict", predicting, folder.file("predicted.ftr"), said));
    if (i == 0) note(runs.notes[0], said);
    const std::string recorded = folder.file("recorded.ftr");
    run_program(options, folder, "record", {}, recorded, said);
    const std::string simulated = folder.file("simulated.ftr");
    std::vector<std::string> command{own_path(),
                                     "simulate",
                                     recorded,
                                     "-o",
                                     simulated,
                                     "--compute",
                                     replayed_compute(options.compute)};
    command.insert(command.end(), of_model.begin(), of_model.end());
    said = run_quietly(folder, std::move(command), simulated);
    if (i == 0) note(runs.notes[1], said);
    runs.simulated.push_back(trace::read_trace(simulated));
  }
  return runs;
}

int cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// How many cores others keep busy. A share above 1 is none, so that nothing is waited for.
double busy_cores() {
  return study::wait_for_quiet(1, 0) * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
}

// Whether the machine is in the state in which it was measured: `now`, before and after the runs.
void tell_cache_line(const machine::MachineModel& model, std::array<double, 2> now,
                     std::vector<std::string>& state) {
  const auto differ = [](double a, double b) {
    return a > 0 && b > 0 && std::max(a, b) > measure::kBounceFactor * std::min(a, b);
  };
  const auto told = [](double seconds) { return fmt::format("{:.3g} ns", 1e9 * seconds); };
  if (differ(now[0], model.cache_line) && differ(now[1], model.cache_line))
    state.push_back("a cache line takes " + told(now[0]) + " from core to core, " +
                    told(model.cache_line) +
                    " when the machine was measured: it is in another state, and messages within "
                    "a host take another time. Measure it again, or run again later");
  else if (differ(now[0], now[1]))
    state.push_back("a cache line took " + told(now[0]) + " from core to core before the runs, " +
                    told(now[1]) +
                    " after them: the state of the machine changed, and with it what messages "
                    "within a host take");
}

void tell_state(const Options& options, double busy, const analysis::Validation& validation,
                std::vector<std::string>& state) {
  constexpr double kBusy = 0.5;
  constexpr double kSwitched = 0.02;
  constexpr double kScattered = 0.05;
  char line[300];
  if (options.run.ranks > cores()) {
    std::snprintf(line, sizeof line,
                  "%d ranks share %d cores: real runs measure time slices, not the machine",
                  options.run.ranks, cores());
    state.emplace_back(line);
  }
  if (busy > kBusy) {
    std::snprintf(line, sizeof line, "others kept %.1f of the cores busy right before the runs",
                  busy);
    state.emplace_back(line);
  }
  const double computed = validation.parts[0][0].median.seconds();
  const double lost = validation.switched_out.median.seconds();
  if (lost > kSwitched * computed) {
    const std::string share =
        lost > computed ? "more than they computed"
                        : fmt::format("{:.1f} % of what they computed", 100 * lost / computed);
    state.push_back(fmt::format(
        "in the real runs the ranks spent {:.3g} s between their calls without a core, {}: they "
        "waited for something that predictions leave out (threads of their own), or others had the "
        "cores",
        lost, share));
  }
  const double width = (validation.measured.high - validation.measured.low).seconds();
  if (width > kScattered * validation.measured.median.seconds()) {
    std::snprintf(line, sizeof line,
                  "the real runs scatter by %.1f %% (quartiles): no prediction can be nearer",
                  100 * width / validation.measured.median.seconds());
    state.emplace_back(line);
  }
}

void check(const Options& options) {
  const CaptureRun& run = options.run;
  if (options.real.empty() != options.predicted.empty())
    throw UsageError("--real and --predicted go together: traces of both kinds");
  if (options.real.empty() && !options.untraced.empty())
    throw UsageError("--untraced is of runs that --real has: give that, too");
  if (!options.real.empty()) {
    if (!run.program.empty()) throw UsageError("--real has traces of runs: leave out the program");
    return;
  }
  if (run.program.empty())
    throw UsageError("no program given: foretrace validate -n RANKS --machine M.toml -- PROGRAM");
  if (run.ranks < 1) throw UsageError("validate starts the program itself: give -n RANKS");
  find_program(run.program.front());
}

std::vector<trace::Trace> read_all(const std::vector<std::string>& files) {
  std::vector<trace::Trace> traces;
  for (const std::string& file : files) traces.push_back(trace::read_trace(file));
  return traces;
}

int validate(Options& options) {
  CaptureRun& run = options.run;
  check(options);
  const machine::MachineModel model = machine::read_machine_file(options.machine);
  warn_of_machine(options.machine, model);
  views::ValidationReport report;
  if (!options.within.empty()) report.within = read_within(options.within);
  report.machine = model.name;

  const bool runs_it = options.real.empty();
  const double busy = runs_it ? busy_cores() : 0;
  std::array<double, 2> cache_line{};
  Runs runs;
  if (runs_it) {
    const ScratchFolder folder("the runs' traces");
    cache_line[0] = measure::time_cache_line();
    runs = run_all(options, folder);
    cache_line[1] = measure::time_cache_line();
  } else {
    runs.measured = read_all(options.real);
    runs.predicted = read_all(options.predicted);
    for (const trace::Trace& trace : read_all(options.untraced)) {
      if (trace.info.clock == trace::Clock::cpu)
        throw Error("--untraced has a run without a clock: record it with --clock wall");
      if (trace.ranks.size() != runs.measured.front().ranks.size())
        throw Error("--untraced has a run of " + std::to_string(trace.ranks.size()) +
                    " ranks, --real of " + std::to_string(runs.measured.front().ranks.size()));
      runs.untraced.push_back(analysis::program_time(trace));
    }
  }
  report.program = runs_it ? run.program.front() : runs.measured.front().info.program;
  report.ranks = static_cast<int>(runs.measured.front().ranks.size());
  report.runs =
      static_cast<int>(runs.untraced.empty() ? runs.measured.size() : runs.untraced.size());
  const trace::TellPlace tell = place_teller();
  const auto add = [&](const char* name, const std::vector<trace::Trace>& traces, int way) {
    views::ValidatedWay compared;
    compared.name = name;
    compared.validation = analysis::validate(runs.measured, traces, tell, runs.untraced);
    compared.causes = analysis::diagnose(
        compared.validation, model,
        [](std::string_view function) { return measure::facts_of(function) != nullptr; },
        options.causes);
    compared.notes = runs.notes[way];
    report.ways.push_back(std::move(compared));
  };
  add(runs_it ? "predict" : runs.predicted.front().info.origin.c_str(), runs.predicted, 0);
  if (runs_it) add("simulate", runs.simulated, 1);
  tell_cache_line(model, cache_line, report.state);
  if (runs_it) tell_state(options, busy, report.ways.front().validation, report.state);
  const std::string text =
      options.json ? views::render_json_validation(report) : views::render_text_validation(report);
  std::fputs(text.c_str(), stdout);
  return report.is_within() ? 0 : 1;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_program_options(app, options->run);
  app.add_option("--machine", options->machine,
                 std::string("The model of this machine") + kMachineHelp)
      ->transform(machine_name())
      ->required();
  app.add_option("--runs", options->runs, "How often each kind of run is made")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--compute", options->compute,
                 "Time between calls in the predictions, as in predict: none, annotated[:STEP], "
                 "measured[:SCALE], table:FILE, replayed:RUN.ftr")
      ->check(offers(kComputeWords))
      ->capture_default_str();
  app.add_option("--scale-from", options->scale_from,
                 "The model of the machine that computed, as in predict")
      ->transform(machine_name());
  app.add_option("--real", options->real,
                 "Compare with these runs, recorded with --clock wall, instead of running the "
                 "program");
  app.add_option("--untraced", options->untraced,
                 "With --real: runs recorded with --clock wall --start never, which say what the "
                 "program takes where nobody logs its calls");
  app.add_option("--predicted", options->predicted, "The predictions of them that are compared");
  app.add_option("--causes", options->causes, "How many causes to name")->capture_default_str();
  app.add_option("--within", options->within,
                 "End with status 1 if a way is off by more than this (5%)");
  app.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return validate(*options); };
}

}  // namespace
}  // namespace validate_command

const Subcommand kValidate{
    "validate", "Run a program, predict it, and show where the two part", validate_command::declare,
    "foretrace validate -n 2 --machine here.toml -- ./app\n"
    "foretrace validate -n 2 --machine here.toml --within 5% --json -- ./app\n"
    "foretrace validate --machine cluster.toml --real run.ftr --predicted p.ftr\n"};

}  // namespace foretrace::cli
