#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>

#include "base/cache_line.hpp"
#include "base/error.hpp"
#include "cli/explain/baseline.hpp"
#include "cli/machines/notes.hpp"
#include "cli/programs/launch.hpp"
#include "cli/programs/summary.hpp"
#include "cli/subcommand.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/validate/rounds.hpp"
#include "cli/validate/states.hpp"
#include "cli/words/option_values.hpp"
#include "machine/machine_file.hpp"
#include "machine/state.hpp"
#include "measure/core/functions.hpp"
#include "study/quiet.hpp"
#include "views/report/validation.hpp"

namespace foretrace::cli {
namespace validate_command {
namespace {

struct Options {
  RoundOptions rounds;
  std::string within;
  std::vector<std::string> real;       // traces, instead of running the program
  std::vector<std::string> predicted;  // the same
  std::vector<std::string> untraced;   // the same, or none
  std::size_t causes = 5;
  bool json = false;
};

int cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// How many cores others keep busy. A share above 1 is none, so that nothing is waited for.
double busy_cores() {
  return study::wait_for_quiet(1, 0) * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
}

void tell_state(const Options& options, double busy, const analysis::Validation& validation,
                std::vector<std::string>& state) {
  constexpr double kBusy = 0.5;
  constexpr double kSwitched = 0.02;
  constexpr double kScattered = 0.05;
  char line[300];
  if (options.rounds.run.ranks > cores()) {
    std::snprintf(line, sizeof line,
                  "%d ranks share %d cores: real runs measure time slices, not the machine",
                  options.rounds.run.ranks, cores());
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
  const CaptureRun& run = options.rounds.run;
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

// What is compared: runs that found the machine in one state, or traces that were made elsewhere.
struct Compared {
  std::vector<Time> untraced;
  std::vector<trace::Trace> measured;
  StatePredictions predictions;
  machine::MachineModel model;  // in that state
};

Compared read_runs(const Options& options, const machine::MachineModel& model) {
  Compared compared;
  compared.model = model;
  compared.measured = read_all(options.real);
  compared.predictions.predicted = read_all(options.predicted);
  for (const trace::Trace& trace : read_all(options.untraced)) {
    if (trace.info.clock == trace::Clock::cpu)
      throw Error("--untraced has a run without a clock: record it with --clock wall");
    if (trace.ranks.size() != compared.measured.front().ranks.size())
      throw Error("--untraced has a run of " + std::to_string(trace.ranks.size()) +
                  " ranks, --real of " + std::to_string(compared.measured.front().ranks.size()));
    compared.untraced.push_back(analysis::program_time(trace));
  }
  return compared;
}

template <class Run>
std::vector<Run> those(std::vector<Run>& runs, const std::vector<std::size_t>& which) {
  std::vector<Run> chosen;
  for (const std::size_t i : which) chosen.push_back(std::move(runs[i]));
  return chosen;
}

// The real runs that found the state that the report is not of, and the predictions for it.
views::OtherState left_state(const std::vector<Time>& untraced, const StatePredictions& predictions,
                             bool is_measured) {
  views::OtherState left;
  left.is_measured = is_measured;
  left.runs = static_cast<int>(untraced.size());
  left.measured = analysis::spread_of(untraced);
  const auto add = [&](const char* name, const std::vector<trace::Trace>& traces) {
    std::vector<Time> times;
    for (const trace::Trace& trace : traces) times.push_back(analysis::program_time(trace));
    left.ways.emplace_back(name, analysis::spread_of(times));
  };
  add("predict", predictions.predicted);
  add("simulate", predictions.simulated);
  return left;
}

Compared run_and_choose(const Options& options, const machine::MachineModel& model,
                        views::ValidationReport& report) {
  std::array<double, 2> cache_line{};
  cache_line[0] = time_cache_line();
  Rounds rounds = run_rounds(options.rounds, model);
  cache_line[1] = time_cache_line();
  const std::vector<FoundState>& found = rounds.untraced.states;
  const StateChoice choice = choose_state(found);
  report.state = notes_of_states(found, rounds.untraced.lines, choice, model.cache_line);
  if (std::ranges::all_of(found, [](FoundState state) { return state == FoundState::unknown; }))
    report.state = notes_of_cache_line(cache_line, model.cache_line);
  if (!choice.left.empty())
    report.other_state = left_state(those(rounds.untraced.runs, choice.left),
                                    rounds.predictions[!choice.is_other], choice.is_other);
  std::vector<std::size_t> logged = runs_in(rounds.measured.states, choice.is_other);
  if (logged.empty()) {
    if (!choice.is_any)
      report.state.emplace_back(
          "no run whose calls were logged found the machine in that state: what logging adds, the "
          "parts and the causes are of runs in another one");
    logged.resize(rounds.measured.runs.size());
    std::iota(logged.begin(), logged.end(), std::size_t{0});
  }
  return {those(rounds.untraced.runs, choice.chosen), those(rounds.measured.runs, logged),
          std::move(rounds.predictions[choice.is_other]),
          choice.is_other ? machine::in_other_state(model) : model};
}

int validate(Options& options) {
  check(options);
  const std::string& file = options.rounds.machine;
  const machine::MachineModel model = machine::read_machine_file(file);
  warn_of_machine(file, model);
  views::ValidationReport report;
  if (!options.within.empty()) report.within = read_within(options.within);

  const bool runs_it = options.real.empty();
  const double busy = runs_it ? busy_cores() : 0;
  const Compared compared =
      runs_it ? run_and_choose(options, model, report) : read_runs(options, model);
  const StatePredictions& predictions = compared.predictions;
  report.machine = compared.model.name;
  report.program =
      runs_it ? options.rounds.run.program.front() : compared.measured.front().info.program;
  report.ranks = static_cast<int>(compared.measured.front().ranks.size());
  report.runs = static_cast<int>(compared.untraced.empty() ? compared.measured.size()
                                                           : compared.untraced.size());
  const trace::TellPlace tell = place_teller();
  const auto add = [&](const char* name, const std::vector<trace::Trace>& traces, int way) {
    views::ValidatedWay validated;
    validated.name = name;
    validated.validation = analysis::validate(compared.measured, traces, tell, compared.untraced);
    validated.causes = analysis::diagnose(
        validated.validation, compared.model,
        [](std::string_view function) { return measure::facts_of(function) != nullptr; },
        options.causes);
    validated.notes = predictions.notes[way];
    report.ways.push_back(std::move(validated));
  };
  add(runs_it ? "predict" : predictions.predicted.front().info.origin.c_str(),
      predictions.predicted, 0);
  if (runs_it) add("simulate", predictions.simulated, 1);
  if (runs_it) tell_state(options, busy, report.ways.front().validation, report.state);
  const std::string text =
      options.json ? views::render_json_validation(report) : views::render_text_validation(report);
  std::fputs(text.c_str(), stdout);
  return report.is_within() ? 0 : 1;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_program_options(app, options->rounds.run);
  app.add_option("--machine", options->rounds.machine,
                 std::string("The model of this machine") + kMachineHelp)
      ->transform(machine_name())
      ->required();
  app.add_option("--runs", options->rounds.runs, "How often each kind of run is made")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  app.add_option("--compute", options->rounds.compute,
                 "Time between calls in the predictions, as in predict: none, annotated[:STEP], "
                 "measured[:SCALE], table:FILE, replayed:RUN.ftr")
      ->check(offers(kComputeWords))
      ->capture_default_str();
  app.add_option("--scale-from", options->rounds.scale_from,
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
