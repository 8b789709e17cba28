#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "analysis/datasheet.hpp"
#include "base/error.hpp"
#include "cli/machines/notes.hpp"
#include "cli/simulate/options.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/words/line_editor.hpp"
#include "cli/words/nearest.hpp"
#include "cli/words/number_list.hpp"
#include "cli/words/option_values.hpp"
#include "machine/measurement.hpp"
#include "machine/state.hpp"
#include "machine/timing.hpp"
#include "mpi_api/names.hpp"
#include "views/datasheet/calculation.hpp"

namespace foretrace::cli {
namespace calc_command {
namespace {

using machine::Bound;
using machine::Function;
using machine::MachineModel;

constexpr int kMostRanks = 1 << 26;
constexpr const char* kDefaultRanks = "2";
constexpr const char* kDefaultBytes = "0";
constexpr const char* kCommands[] = {"all", "exit", "help", "list", "plot", "quit"};
constexpr const char* kHelp =
    "FUNCTION RANKS BYTES           how long the call takes; RANKS is 2, BYTES 0 if left out\n"
    "plot FUNCTION RANKS BYTES      a plot over BYTES, or over RANKS\n"
    "list                           the model's functions\n"
    "quit                           ends; so does the end of the input\n"
    "FUNCTION may be several, as send,recv, or all; RANKS and BYTES too: 2,4 or 8..64k (doubled\n"
    "each time) or 8..64:8 (8 more each time). k, m and g are powers of 1024.\n";

struct Options {
  std::string machine;
  std::string functions;
  std::string ranks;  // empty: kDefaultRanks
  std::string bytes;  // empty: kDefaultBytes
  std::string output;
  std::string path;  // empty: the outer one
  bool json = false;
  bool plot = false;
  bool allow_invalid = false;
  bool in_other_state = false;
};

// As it was typed, numbers that were not empty; errors call the numbers by where they stand.
struct Words {
  std::string functions, ranks, bytes;
  std::string ranks_name, bytes_name;
};

// What is asked: every combination.
struct Question {
  std::vector<Function> functions;               // named as they were asked for
  std::map<std::string, std::string> stand_ins;  // by name: whose equation it is, if another's
  std::vector<int> ranks;
  std::vector<Bytes> bytes;
  std::string ranks_missing;  // what to give for the ranks to be others; empty: it was given
  std::string bytes_missing;

  bool is_one() const { return functions.size() == 1 && ranks.size() == 1 && bytes.size() == 1; }
};

// "MPI_Bcast", as programs write it, is the model's "bcast".
std::string name_in_model(const MachineModel& model, const std::string& name) {
  return model.find(name) ? name : mpi_api::model_name(name);
}

Function find_function(const MachineModel& model, const std::string& name) {
  if (auto function = machine::predicted_function(model, name)) return *std::move(function);
  if (machine::charged_function(model, name).known)
    throw UsageError("'" + name +
                     "' is not in the machine model, and nothing that it has stands in: "
                     "predictions take no time for it");
  std::string known;
  std::vector<std::string> names;
  for (const auto& [each, unused] : model.functions) {
    known += " " + each;
    names.push_back(each);
  }
  throw UsageError("'" + name + "' is not in the machine model" + did_you_mean(name, names) +
                   (names.empty() ? "" : " (it has" + known + ")"));
}

void add_function(const MachineModel& model, const std::string& name, Question& question) {
  Function function = find_function(model, name);
  if (function.name != name) question.stand_ins[name] = std::exchange(function.name, name);
  question.functions.push_back(std::move(function));
}

Question parse_question(const MachineModel& model, const Words& words) {
  Question question;
  std::istringstream names(words.functions);
  for (std::string name; std::getline(names, name, ',');)
    if (name == "all")
      for (const auto& [unused, function] : model.functions) question.functions.push_back(function);
    else
      add_function(model, name_in_model(model, name), question);
  if (question.functions.empty()) throw UsageError("the machine model holds no function");
  if (words.ranks.empty()) question.ranks_missing = words.ranks_name;
  if (words.bytes.empty()) question.bytes_missing = words.bytes_name;
  const std::string ranks = words.ranks.empty() ? kDefaultRanks : words.ranks;
  const std::string bytes = words.bytes.empty() ? kDefaultBytes : words.bytes;
  for (const std::uint64_t each : parse_number_list(ranks, {words.ranks_name, 1, kMostRanks}))
    question.ranks.push_back(static_cast<int>(each));
  for (const std::uint64_t each : parse_number_list(bytes, {words.bytes_name}))
    question.bytes.emplace_back(each);
  return question;
}

// The times that were asked for, as a data sheet of these functions.
analysis::Datasheet sheet_of(const MachineModel& model, const Question& question) {
  MachineModel asked = model;
  asked.functions.clear();
  for (const Function& function : question.functions) asked.functions[function.name] = function;
  return analysis::make_datasheet(asked, {}, {question.ranks, question.bytes});
}

void print_one(const MachineModel& model, const Question& question) {
  const Function& function = question.functions.front();
  const auto at = [&](Bound bound) {
    return evaluate_seconds(model, function, question.ranks.front(), question.bytes.front(), bound);
  };
  std::printf(
      "%s\nmin = %.6g s   avg = %.6g s   max = %.6g s\n%s",
      views::describe_equation(model, function, question.bytes.front()).c_str(), at(Bound::min),
      at(Bound::avg), at(Bound::max),
      views::remarks_on(model, function, question.ranks.front(), question.bytes.front()).c_str());
}

// What nobody gave, where the time depends on it.
void print_taken(const Question& question) {
  const bool ranks = !question.ranks_missing.empty() &&
                     std::ranges::any_of(question.functions, analysis::depends_on_ranks);
  const bool bytes = !question.bytes_missing.empty() &&
                     std::ranges::any_of(question.functions, analysis::depends_on_bytes);
  if (ranks)
    std::printf("p = %s: %s was not given\n", kDefaultRanks, question.ranks_missing.c_str());
  if (bytes)
    std::printf("d = %s: %s was not given\n", kDefaultBytes, question.bytes_missing.c_str());
}

// As predictions do. Of a single time beyond what was measured, the remarks say it.
void print_below_zero(const MachineModel& model, const Question& question) {
  machine::Timing::Unknowns unknowns;
  for (const Function& function : question.functions) {
    std::optional<Bytes> least;
    for (const int ranks : question.ranks)
      for (const Bytes bytes : question.bytes)
        if (is_below_zero(model, function, ranks, bytes) && (!least || bytes < *least) &&
            !(question.is_one() && beyond_measured(model, function, ranks, bytes).any()))
          least = bytes;
    if (least)
      unknowns.below_zero.push_back(function.name + (analysis::depends_on_bytes(function)
                                                         ? fmt::format(" of {} B", least->count)
                                                         : ""));
  }
  for (const std::string& note : machine::notes_of(unknowns)) std::printf("%s\n", note.c_str());
}

void print_answer(const MachineModel& model, const Question& question) {
  for (const auto& [path, unused] : model.paths)
    std::printf("between ranks of two nodes; --path %s: %s\n",
                std::string(machine::name_of(path)).c_str(),
                std::string(machine::meaning_of(path)).c_str());
  for (const auto& [name, stand_in] : question.stand_ins)
    std::printf("%s is not in the machine model; %s stands in, as in predictions\n", name.c_str(),
                stand_in.c_str());
  if (question.is_one())
    print_one(model, question);
  else
    std::fputs(views::render_times(sheet_of(model, question)).c_str(), stdout);
  print_below_zero(model, question);
  print_taken(question);
}

// One object, or an array of them for several.
void print_json(const MachineModel& model, const Question& question) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Function& function : question.functions)
    for (const int ranks : question.ranks)
      for (const Bytes bytes : question.bytes) {
        const auto at = [&](Bound bound) {
          return evaluate_seconds(model, function, ranks, bytes, bound);
        };
        all.push_back({{"function", function.name},
                       {"ranks", ranks},
                       {"bytes", bytes.count},
                       {"min", at(Bound::min)},
                       {"avg", at(Bound::avg)},
                       {"max", at(Bound::max)}});
        const auto stand_in = question.stand_ins.find(function.name);
        if (stand_in != question.stand_ins.end()) all.back()["stand_in"] = stand_in->second;
        if (is_below_zero(model, function, ranks, bytes)) all.back()["below_zero"] = true;
      }
  const nlohmann::ordered_json& json = question.is_one() ? all.front() : all;
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

std::pair<std::size_t, std::size_t> terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {std::min<std::size_t>(size.ws_col, 120), std::clamp<std::size_t>(size.ws_row, 16, 32)};
}

views::PlotRange plot_range(const Question& question) {
  views::PlotRange range{question.ranks, question.bytes};
  std::ranges::sort(range.ranks);
  std::ranges::sort(range.bytes);
  const auto [ranks_end, unused] = std::ranges::unique(range.ranks);
  range.ranks.erase(ranks_end, range.ranks.end());
  const auto [bytes_end, unused_too] = std::ranges::unique(range.bytes);
  range.bytes.erase(bytes_end, range.bytes.end());
  if (range.ranks.size() < 2 && range.bytes.size() < 2)
    throw UsageError("a plot needs several sizes or several ranks, such as the sizes 8..1m");
  return range;
}

// To the terminal, or to a file whose name says what: .svg or .gp.
void plot(const MachineModel& model, const Question& question, const std::string& output) {
  const views::PlotRange range = plot_range(question);
  const views::Plot picture = views::times_plot(model, question.functions, range);
  if (output.empty()) {
    const auto [width, height] = terminal_size();
    std::fputs(views::render_text_plot(picture, width, height).c_str(), stdout);
    print_taken(question);
    return;
  }
  if (ending_of(output, "calc", {".svg", ".gp"}) == ".svg")
    write_output(output, views::render_svg_file(picture));
  else
    write_output(output, views::render_gnuplot_plot(sheet_of(model, question), range,
                                                    std::filesystem::path(output).stem().string()));
}

std::vector<std::string> completions(const MachineModel& model, const std::string& line,
                                     std::size_t word) {
  // Only functions, and commands, are words: the rest are numbers.
  std::istringstream before(line.substr(0, line.find_last_of(" \t", word) + 1));
  std::string first, second;
  before >> first >> second;
  const bool plots = first == "plot" && second.empty();
  std::vector<std::string> out;
  if (!first.empty() && !plots) return out;
  for (const auto& [name, unused] : model.functions) out.push_back(name);
  if (plots)
    out.emplace_back("all");
  else
    out.insert(out.end(), std::begin(kCommands), std::end(kCommands));
  std::ranges::sort(out);
  return out;
}

// False: that was the last line.
bool answer_line(const MachineModel& model, const std::string& line) {
  std::istringstream words(line);
  std::string name;
  std::string ranks;
  std::string bytes;
  std::string more;
  if (!(words >> name)) return true;
  if (name == "quit" || name == "exit") return false;
  if (name == "list") {
    for (const auto& [each, unused] : model.functions) std::printf("%s\n", each.c_str());
    return true;
  }
  if (name == "help") {
    std::fputs(kHelp, stdout);
    return true;
  }
  const bool plots = name == "plot";
  if (plots && !(words >> name)) throw UsageError("plot what? See help");
  if (words >> ranks) words >> bytes;
  if (words >> more) throw UsageError("'" + more + "' is too much; enter FUNCTION RANKS BYTES");
  const Question question = parse_question(model, {name, ranks, bytes, "RANKS", "BYTES"});
  if (plots)
    plot(model, question, "");
  else
    print_answer(model, question);
  return true;
}

// The thesis's timecalc: one question a line (Howell's thesis section 3.5.5).
int prompt(const MachineModel& model) {
  std::printf("%s: enter FUNCTION RANKS BYTES; 'help' says more, 'quit' ends\n",
              model.name.c_str());
  LineEditor editor(
      {"> ", state_file("calc_history"),
       [&](const std::string& line, std::size_t word) { return completions(model, line, word); }});
  for (std::string line; editor.read(line);) {
    try {
      if (!answer_line(model, line)) break;
    } catch (const UsageError& error) {
      std::printf("%s\n", error.what());
    }
  }
  return 0;
}

// The model as it is on the path that was asked for.
MachineModel model_on(const MachineModel& model, const std::string& name) {
  if (name.empty()) return model;
  const auto path = machine::parse_path(name);
  std::string known = "outer";
  for (const machine::Path each : {machine::Path::node, machine::Path::untouched})
    if (machine::knows_path(model, each))
      known = std::string(machine::name_of(each)) + ", " + known;
  if (!path || !machine::knows_path(model, *path))
    throw UsageError("calc: --path " + name + ": the machine model has no such path; it has " +
                     known);
  return machine::on_path(model, *path);
}

// What was asked for by name; a list of all shows how far to trust each.
void check_valid(const MachineModel& model, const std::string& functions) {
  std::vector<std::string> unreliable;
  std::istringstream names(functions);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "all") continue;
    const Function* function =
        machine::charged_function(model, name_in_model(model, name)).function;
    if (function && machine::is_unreliable(*function))
      unreliable.push_back(function->name + " (" + machine::why_unreliable(*function) + ")");
  }
  if (!unreliable.empty()) throw Error("calc: " + machine::refusal_of(unreliable));
}

int calc(const Options& options) {
  const MachineModel model = model_on(
      machine::read_machine_in_state(options.machine, options.in_other_state), options.path);
  warn_of_machine(options.machine, model);
  if (!options.allow_invalid) check_valid(model, options.functions);
  if (options.functions.empty()) return prompt(model);
  if (options.json && options.plot) throw UsageError("calc: --json and --plot: choose one");
  if (!options.output.empty() && !options.plot) throw UsageError("calc: -o is for --plot");
  const Question question = parse_question(
      model, {options.functions, options.ranks, options.bytes, "--ranks", "--bytes"});
  if (options.plot)
    plot(model, question, options.output);
  else if (options.json)
    print_json(model, question);
  else
    print_answer(model, question);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("machine", options->machine, std::string("The machine model") + kMachineHelp)
      ->transform(machine_name())
      ->required();
  app.add_option("function", options->functions,
                 "MPI functions, e.g. bcast or send,recv, or all; none: ask at a prompt");
  // Nothing given means the default; something empty does not.
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? std::string("is empty") : std::string();
  };
  app.add_option("-n,--ranks", options->ranks, "Numbers of ranks, e.g. 8 or 2,4 or 2..64")
      ->check(not_empty)
      ->default_str(kDefaultRanks);
  app.add_option("--bytes", options->bytes, "Message sizes in bytes, e.g. 64k or 8,1k or 8..1m")
      ->check(not_empty)
      ->default_str(kDefaultBytes);
  app.add_option("--path", options->path,
                 "Between which ranks: node (of one node), outer (of two; the default), untouched "
                 "(of one node, data that nobody has written since it was sent last)")
      ->check(offers("node,outer,untouched"));
  add_allow_invalid(app, options->allow_invalid);
  add_other_state(app, options->in_other_state);
  app.add_flag("--json", options->json, "Print one JSON object; an array for several times");
  app.add_flag("--plot", options->plot, "Draw the times over the sizes, or over the ranks");
  app.add_option("-o,--output", options->output, "Where to draw: a file FILE.svg or FILE.gp");
  return [options] { return calc(*options); };
}

}  // namespace
}  // namespace calc_command

const Subcommand kCalc{"calc", "Tell how long MPI functions take on a machine",
                       calc_command::declare,
                       "foretrace calc cray-t3d bcast --ranks 16 --bytes 64k\n"
                       "foretrace calc cray-t3d send,bcast --ranks 2,64 --bytes 8..1m --plot\n"
                       "foretrace calc cray-t3d\n"};

}  // namespace foretrace::cli
