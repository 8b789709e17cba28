#include "cli/validate/rounds.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "analysis/validation.hpp"
#include "base/cache_line.hpp"
#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "cli/system/process.hpp"
#include "machine/state.hpp"
#include "trace/trace.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

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

std::vector<std::string> words_before_program(const RoundOptions& options, const std::string& verb,
                                              const std::string& output) {
  std::vector<std::string> words{own_path(), verb,  "-n", std::to_string(options.run.ranks),
                                 "-o",       output};
  if (options.run.mpi) words.insert(words.end(), {"--mpi", *options.run.mpi});
  if (options.run.yield) words.insert(words.end(), {"--yield", *options.run.yield});
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

trace::Trace run_program(const RoundOptions& options, const ScratchFolder& folder,
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

// What a cache line takes in a run that is made while this is there.
class WatchedLines {
 public:
  explicit WatchedLines(const std::string& file) : file_(file) {
    std::ofstream(file, std::ios::binary) << std::string(sizeof(LinesOfRun), '\0');
    ::setenv(kVariable, file.c_str(), 1);
  }
  ~WatchedLines() { ::unsetenv(kVariable); }
  WatchedLines(const WatchedLines&) = delete;
  WatchedLines& operator=(const WatchedLines&) = delete;

  // As the run began, and as it ended; 0: not known.
  std::array<double, 2> seconds() const {
    const MappedLines lines = map_lines(file_);
    return lines ? std::array{lines->at_start, lines->at_end} : std::array{0.0, 0.0};
  }

 private:
  static constexpr const char* kVariable = "FORETRACE_LINES_OF_RUN";

  std::string file_;
};

class Runner {
 public:
  Runner(const RoundOptions& options, const machine::MachineModel& model)
      : options_(options),
        model_(model),
        // What a function that measure calls INVALID does to the prediction is a finding.
        of_model_{"--machine", options.machine, "--allow-invalid"} {
    if (!options.scale_from.empty())
      of_model_.insert(of_model_.end(), {"--scale-from", options.scale_from});
  }

  // Each kind in turn, so that a machine that changes meanwhile changes for all.
  Rounds run() {
    for (int i = 0; i < options_.runs; ++i) {
      run_plainly();
      run_logged();
      // For the state that was found just now, or else mostly.
      const FoundState now = rounds_.untraced.states.back();
      predict(now == FoundState::other ||
              (now == FoundState::neither && choose_state(rounds_.untraced.states).is_other));
      const std::string recording = record();
      simulate(recording, false);
      if (machine::has_other_state(model_)) simulate(recording, true);
    }
    for (const bool other : {false, true})
      if (rounds_.predictions[other].predicted.empty() && is_wanted(other)) predict(other);
    return std::move(rounds_);
  }

 private:
  bool is_wanted(bool other) const {
    const StateChoice choice = choose_state(rounds_.untraced.states);
    return choice.is_other == other || !choice.left.empty();
  }

  void run_plainly() {
    const WatchedLines lines(folder_.file("lines"));
    std::string said;
    add(rounds_.untraced,
        analysis::program_time(run_program(options_, folder_, "record",
                                           {"--clock", "wall", "--start", "never"},
                                           folder_.file("untraced.ftr"), said)),
        lines);
  }

  void run_logged() {
    const WatchedLines lines(folder_.file("lines"));
    std::string said;
    add(rounds_.measured,
        run_program(options_, folder_, "record", {"--clock", "wall"}, folder_.file("measured.ftr"),
                    said),
        lines);
  }

  template <class Run>
  void add(RealRuns<Run>& runs, Run run, const WatchedLines& lines) {
    runs.runs.push_back(std::move(run));
    runs.states.push_back(found_state(lines.seconds(), model_));
    runs.lines.push_back(lines.seconds()[1]);
  }

  std::vector<std::string> words_of_model(bool other) const {
    std::vector<std::string> words = of_model_;
    if (other) words.emplace_back("--other-state");
    return words;
  }

  void predict(bool other) {
    std::vector<std::string> words = words_of_model(other);
    words.insert(words.end(), {"--compute", options_.compute});
    StatePredictions& predictions = rounds_.predictions[other];
    std::string said;
    predictions.predicted.push_back(
        run_program(options_, folder_, "predict", words, folder_.file("predicted.ftr"), said));
    if (predictions.predicted.size() == 1) predictions.notes[0] = notes_in(said);
  }

  std::string record() {
    std::string file = folder_.file("recorded.ftr");
    std::string said;
    run_program(options_, folder_, "record", {}, file, said);
    return file;
  }

  void simulate(const std::string& recording, bool other) {
    const std::string file = folder_.file("simulated.ftr");
    std::vector<std::string> command{own_path(),
                                     "simulate",
                                     recording,
                                     "-o",
                                     file,
                                     "--compute",
                                     replayed_compute(options_.compute)};
    const std::vector<std::string> words = words_of_model(other);
    command.insert(command.end(), words.begin(), words.end());
    const std::string said = run_quietly(folder_, std::move(command), file);
    StatePredictions& predictions = rounds_.predictions[other];
    predictions.simulated.push_back(trace::read_trace(file));
    if (predictions.simulated.size() == 1) predictions.notes[1] = notes_in(said);
  }

  static std::vector<std::string> notes_in(const std::string& said) {
    std::vector<std::string> notes;
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
    return notes;
  }

  const RoundOptions& options_;
  const machine::MachineModel& model_;
  std::vector<std::string> of_model_;
  ScratchFolder folder_{"the runs' traces"};
  Rounds rounds_;
};

}  // namespace

Rounds run_rounds(const RoundOptions& options, const machine::MachineModel& model) {
  return Runner(options, model).run();
}

}  // namespace foretrace::cli
