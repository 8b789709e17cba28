#include "cli/mistake.hpp"

#include "cli/nearest.hpp"

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
  return error.what();
}

}  // namespace

std::string mistake_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string all = "foretrace";
  return fault_of(error, app) + "; see " +
         (app.get_name() == all ? all : all + " " + app.get_name()) + " --help";
}

}  // namespace foretrace::cli
