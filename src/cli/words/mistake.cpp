#include "cli/words/mistake.hpp"

#include <algorithm>

#include "cli/words/named_files.hpp"
#include "cli/words/nearest.hpp"

namespace foretrace::cli {
namespace {

// Those that --help shows.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// What was not understood; the parser's own words may be of something else that comes of it, as of
// the option that is missing then. Options behind words that take none are known ones.
std::string fault_of(const CLI::ParseError& error, const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    const std::string option = word.substr(0, word.find('='));
    const bool is_option = option.size() > 1 && option[0] == '-' && option != "--";
    if (!is_option || app.get_option_no_throw(option) != nullptr) continue;
    return "unknown option '" + option + "'" + did_you_mean(option, option_names(app));
  }
  const std::string misplaced = misplaced_machine(app);
  return misplaced.empty() ? error.what() : misplaced;
}

bool is_machine(const std::string& word) {
  if (word.ends_with(".toml")) return !word.ends_with(".arch.toml");
  const std::vector<NamedFile> machines = named_files(Named::machine);
  return std::ranges::find(machines, word, &NamedFile::name) != machines.end();
}

}  // namespace

std::string misplaced_machine(const CLI::App& app) {
  const CLI::Option* const machine = app.get_option_no_throw("--machine");
  if (machine == nullptr || machine->count() > 0) return {};
  for (const char* const name : {"input", "program"}) {
    const CLI::Option* const given = app.get_option_no_throw(name);
    if (given == nullptr) continue;
    for (const std::string& word : given->results()) {
      if (is_machine(word)) return "'" + word + "' is a machine model: say --machine " + word;
      // Behind a program are its arguments.
      if (!word.ends_with(".ftr")) break;
    }
  }
  return {};
}

std::string mistake_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string all = "foretrace";
  return fault_of(error, app) + "; see " +
         (app.get_name() == all ? all : all + " " + app.get_name()) + " --help";
}

}  // namespace foretrace::cli
