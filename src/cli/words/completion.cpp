#include "cli/words/completion.hpp"

#include "cli/words/named_files.hpp"

namespace foretrace::cli {
namespace {

std::string topology_words() {
  std::string words;
  for (const std::string& kind : topology_kinds()) words += kind + ":,";
  for (const NamedFile& file : named_files(Named::topology)) words += file.name + ",";
  return words + "FILE";
}

// "{cpu,wall}" is how CLI11 describes a choice among words.
std::string value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "-";
  const std::string type = option.get_type_name();
  if (type.find("MACHINE") != std::string::npos) return "machine";
  if (type.find("TOPOLOGY") != std::string::npos) return topology_words();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open != std::string::npos && close != std::string::npos)
    return type.substr(open + 1, close - open - 1);
  return "file";
}

}  // namespace

std::string completion_data(const CLI::App& app) {
  std::string text;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += "command\t" + sub->get_name() + "\t" + sub->get_description() + "\n";
    for (const CLI::Option* option : sub->get_options()) {
      if (option->get_group().empty()) continue;
      std::string description = option->get_description();
      for (const std::string& name : option->get_lnames())
        text += "option\t" + sub->get_name() + "\t--" + name + "\t" + value_of(*option) + "\t" +
                description + "\n";
      for (const std::string& name : option->get_snames())
        text += "option\t" + sub->get_name() + "\t-" + name + "\t" + value_of(*option) + "\t" +
                description + "\n";
      if (option->get_positional())
        text += "argument\t" + sub->get_name() + "\t" + option->get_name(true) + "\t" +
                value_of(*option) + "\t" + description + "\n";
    }
  }
  return text;
}

}  // namespace foretrace::cli
