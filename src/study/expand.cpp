#include "study/expand.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "results/condition.hpp"
#include "results/query.hpp"

namespace foretrace::study {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 1'000'000;
constexpr const char* kTrace = "{trace}";  // a file name of the runner's

// Parameters that change together, as one axis.
struct Axis {
  std::vector<const Parameter*> parameters;
  std::size_t length = 0;
};

std::vector<Axis> axes_of(const Study& study) {
  std::vector<Axis> axes;
  std::set<std::string> taken;
  for (const Parameter& parameter : study.parameters) {
    if (taken.contains(parameter.name)) continue;
    Axis axis{{}, parameter.values.size()};
    std::vector<std::string> names{parameter.name};
    for (const auto& zip : study.zips)
      if (std::ranges::count(zip, parameter.name) != 0) names = zip;
    for (const std::string& name : names) {
      axis.parameters.push_back(&*std::ranges::find(study.parameters, name, &Parameter::name));
      taken.insert(name);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

// The program's file, as the launcher will find it; "" if there is none.
std::string file_of_command(const std::string& word) {
  std::error_code ignored;
  if (word.find('/') != std::string::npos) return fs::is_regular_file(word, ignored) ? word : "";
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path file = fs::path(folders.substr(at, end - at)) / word;
    if (fs::is_regular_file(file, ignored)) return file.string();
    at = end + 1;
  }
  return "";
}

class Expander {
 public:
  Expander(const Study& study, const Tool& tool) : study_(study), tool_(tool) {
    for (const Parameter& parameter : study.parameters) names_.push_back(parameter.name);
    for (const std::string& text : study.where) conditions_.emplace_back(text, names_, where());
  }

  Expansion run() {
    const std::vector<Axis> axes = axes_of(study_);
    std::size_t count = 1;
    for (const Axis& axis : axes) {
      count *= axis.length;
      if (count > kMostPoints) throw Error(study_.file + ": more than a million combinations");
    }
    out_.combinations = count;
    for (std::size_t index = 0; index < count; ++index) combination(axes, index);
    if (out_.left_out == count)
      throw UsageError(where() + ": it holds for none of the " + std::to_string(count) +
                       " combinations of parameters: nothing would be run");
    for (const std::string& name : names_)
      if (!used_.contains(name)) out_.unused.push_back(name);
    return std::move(out_);
  }

 private:
  using Texts = std::map<std::string, std::string>;

  void combination(const std::vector<Axis>& axes, std::size_t index) {
    std::map<std::string, Cell> cells;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      const std::size_t at = index % axes[axis].length;
      index /= axes[axis].length;
      for (const Parameter* parameter : axes[axis].parameters)
        cells[parameter->name] = parameter->values[at];
    }
    std::vector<Cell> values;
    Texts texts;
    for (const std::string& name : names_) {
      values.push_back(cells[name]);
      texts[name] = results::text_of(cells[name]);
    }
    for (results::Condition& condition : conditions_)
      if (!condition.holds(values)) {
        ++out_.left_out;
        return;
      }
    for (const Way& way : study_.ways) {
      if (way.kind == Kind::text || way.kind == Kind::model) {
        of_file(way, cells, texts);
        continue;
      }
      for (const Program& program : study_.programs)
        if (way.programs.empty() || std::ranges::count(way.programs, program.name) != 0)
          of_program(way, program, cells, texts);
    }
  }

  std::string place(int line) const { return study_.file + ":" + std::to_string(line) + ": "; }
  std::string where() const { return place(study_.where_line) + "where"; }

  // What the tool says of a way's words, with the place.
  template <class Ask>
  auto asked(const Way& way, int line, const std::string& what, const Ask& ask) const {
    const std::string where = place(line) + "ways." + way.name + ": " + what;
    try {
      return ask();
    } catch (const UsageError& error) {
      throw UsageError(where + error.what());
    } catch (const Error& error) {
      throw Error(where + error.what());
    }
  }

  // Once for all points that differ by the program's own words alone.
  void check_command(const Way& way, int line, const std::vector<std::string>& words) {
    if (!tool_.check_command) return;
    std::string own;
    for (auto word = words.begin(); word != words.end() && *word != "--"; ++word)
      own += *word + '\0';
    if (checked_.insert(std::move(own)).second)
      asked(way, line, "", [&] { tool_.check_command(words); });
  }

  [[noreturn]] void fail(int line, const std::string& message) const {
    throw Error(place(line) + message);
  }

  void use(const std::string& text, Texts& used, const Texts& texts) const {
    for (const std::string& name : names_in(text, study_.file)) used[name] = texts.at(name);
  }
  std::vector<std::string> filled(const std::vector<std::string>& words, const Texts& texts,
                                  Texts& used) const {
    std::vector<std::string> out;
    for (const std::string& word : words) {
      use(word, used, texts);
      out.push_back(filled_in(word, texts));
    }
    return out;
  }
  std::string filled(const std::string& word, const Texts& texts, Texts& used) const {
    return filled(std::vector<std::string>{word}, texts, used).front();
  }

  static void append(std::vector<std::string>& to, const std::vector<std::string>& words) {
    to.insert(to.end(), words.begin(), words.end());
  }

  std::string checksum_of_file(const std::string& path) {
    if (path.empty()) return "";
    auto [place, fresh] = checksums_.try_emplace(path);
    if (fresh) place->second = hex_of(checksum_of(read_whole_file(path, "what the study names")));
    return place->second;
  }

  // Adds --machine, and notes which it is.
  void add_machine(const Way& way, const std::string& word, Job& job) {
    if (word.empty()) return;
    auto [file, fresh] = machines_.try_emplace(word);
    if (fresh)
      file->second = asked(way, way.line, "machine: ", [&] { return tool_.machine(word); });
    job.machine = fs::path(file->second).stem().string();
    job.machine_checksum = checksum_of_file(file->second);
    append(job.command, {"--machine", file->second});
  }

  void note_files(const Way& way, const std::vector<std::string>& options, Job& job) {
    if (!tool_.files_of) return;
    for (const std::string& word : options)
      for (const std::string& file :
           asked(way, way.options_line, "", [&] { return tool_.files_of(word); }))
        job.option_checksums.push_back(checksum_of_file(file));
  }

  static bool is_whole(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }

  int ranks_of(const std::string& text, int line, const std::string& what) const {
    int ranks = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
    if (error != std::errc() || end != text.data() + text.size() || ranks < 1)
      fail(line, what + ": '" + text + "' is no number of ranks; 1, 2, ... are");
    return ranks;
  }

  void of_program(const Way& way, const Program& program, const std::map<std::string, Cell>& cells,
                  const Texts& texts) {
    Texts used;
    Job job;
    job.kind = way.kind;
    job.program = program.name;
    job.way = way.name;
    job.ranks = ranks_of(filled(program.ranks, texts, used), program.line,
                         "programs." + program.name + ": ranks");
    const std::vector<std::string> command = filled(program.command, texts, used);
    const std::vector<std::string> options = filled(way.options, texts, used);
    const std::string file = file_of_command(command.front());
    if (file.empty())
      fail(program.line, "programs." + program.name + ": command: there is no program " +
                             command.front() +
                             (command.front().find('/') == std::string::npos
                                  ? " in PATH; one of this folder is ./" + command.front()
                                  : std::string()));
    job.program_checksum = checksum_of_file(file);
    const std::string ranks = std::to_string(job.ranks);
    switch (way.kind) {
      case Kind::measured:
        job.command = {"record", "--clock", "wall", "-n", ranks};
        break;
      case Kind::predict:
        job.command = {"predict", "-n", ranks};
        break;
      case Kind::live:
        job.command = {"simulate", "-n", ranks};
        break;
      default:
        job.command = {"simulate", kTrace};
    }
    add_machine(way, filled(way.machine, texts, used), job);
    append(job.command, options);
    note_files(way, options, job);
    if (way.kind == Kind::command) {
      job.command = command;
      job.command.front() = file;
    } else if (way.kind == Kind::simulate) {
      Recording recording{0, {"record", "-n", ranks, "-o", kTrace}};
      append(recording.command, filled(way.record_options, texts, used));
      append(recording.command, {"--"});
      append(recording.command, command);
      recording.point = identity(recording.command, {job.program_checksum});
      job.recording = std::move(recording);
      append(job.command, {"--json"});
    } else {
      append(job.command, {"-o", kTrace, "--"});
      append(job.command, command);
    }
    job.measures = measures(way.kind, options);
    if (job.kind != Kind::command) check_command(way, way.options_line, job.command);
    if (job.recording) check_command(way, way.record_options_line, job.recording->command);
    add(std::move(job), cells, used);
  }

  // Predictions that take the times of this machine's processors measure, too.
  static bool measures(Kind kind, const std::vector<std::string>& options) {
    if (kind == Kind::measured) return true;
    if (kind != Kind::predict && kind != Kind::live) return false;
    for (std::size_t i = 0; i < options.size(); ++i) {
      std::string value;
      if (options[i] == "--compute" && i + 1 < options.size()) value = options[i + 1];
      if (options[i].starts_with("--compute=")) value = options[i].substr(10);
      if (!value.empty()) return value.starts_with("measured");
    }
    return true;
  }

  void of_file(const Way& way, const std::map<std::string, Cell>& cells, const Texts& texts) {
    Texts used;
    Job job;
    job.kind = way.kind;
    job.way = way.name;
    const std::string name = filled(way.file, texts, used);
    const std::string file = way.kind == Kind::model
                                 ? asked(way, way.line, "file: ", [&] { return tool_.model(name); })
                                 : name;
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      fail(way.line, "ways." + way.name + ": file: there is no file " + file);
    job.program = fs::path(file).stem().string();
    job.program_checksum = checksum_of_file(file);
    job.command = {way.kind == Kind::model ? "model" : "simulate", file};
    add_machine(way, filled(way.machine, texts, used), job);
    const std::vector<std::string> options = filled(way.options, texts, used);
    append(job.command, options);
    note_files(way, options, job);
    if (!way.at.empty()) append(job.command, {"--at", filled(way.at, texts, used)});
    append(job.command, {"--json"});
    for (const char* ranks : {"p", "ranks"})
      if (const auto found = used.find(ranks); found != used.end() && is_whole(found->second))
        job.ranks = ranks_of(found->second, way.line, "ways." + way.name + ": " + ranks);
    check_command(way, way.options_line, job.command);
    add(std::move(job), cells, used);
  }

  static std::int64_t identity(const std::vector<std::string>& words,
                               const std::vector<std::string>& more) {
    std::string text;
    for (const auto* list : {&words, &more})
      for (const std::string& word : *list) text += word + '\0';
    return checksum_of(text);
  }

  void add(Job job, const std::map<std::string, Cell>& cells, const Texts& used) {
    std::vector<std::string> more{job.program, job.way, job.machine_checksum, job.program_checksum};
    for (const std::string& name : names_)
      if (const auto found = used.find(name); found != used.end()) {
        used_.insert(name);
        more.push_back(name + "=" + found->second);
        if (name == "machine" && job.machine.empty()) job.machine = found->second;
        if (name != "machine" && name != "ranks") job.parameters.emplace_back(name, cells.at(name));
      }
    if (job.recording) more.push_back(hex_of(job.recording->point));
    append(more, job.option_checksums);
    job.point = identity(job.command, more);
    if (known_.insert(job.point).second) out_.jobs.push_back(std::move(job));
  }

  const Study& study_;
  const Tool& tool_;
  std::vector<std::string> names_;
  std::vector<results::Condition> conditions_;
  std::map<std::string, std::string> checksums_, machines_;
  std::unordered_set<std::int64_t> known_;
  std::unordered_set<std::string> checked_;  // the tool's own words of commands
  std::set<std::string> used_;               // parameters
  Expansion out_;
};

}  // namespace

Expansion expand(const Study& study, const Tool& tool) {
  return Expander(study, tool).run();
}

std::int64_t checksum_of(std::string_view text) {
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

std::string hex_of(std::int64_t checksum) {
  char buffer[17];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(checksum));
  return buffer;
}

}  // namespace foretrace::study
