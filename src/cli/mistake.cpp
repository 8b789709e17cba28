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

}  // namespace

std::string mistake_of(const CLI::ParseError& error, const CLI::App& subcommand) {
  std::string guess;
  for (const std::string& word : subcommand.remaining())
    if (guess.empty() && word.starts_with("--"))
      guess = did_you_mean(word.substr(0, word.find('=')), option_names(subcommand));
  return error.what() + guess + "; see foretrace " + subcommand.get_name() + " --help";
}

}  // namespace foretrace::cli
