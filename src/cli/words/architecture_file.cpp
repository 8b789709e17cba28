#include "cli/words/architecture_file.hpp"

#include <CLI/CLI.hpp>

#include "cli/system/process.hpp"
#include "cli/words/named_files.hpp"

namespace foretrace::cli {

void add_architecture_options(CLI::App& app, ArchitectureOptions& options,
                              const std::string& what) {
  app.add_option("--level", options.levels,
                 what +
                     "BOX=LEVEL: how a box is simulated, e.g. 'node[0..3]=coarse'; may be "
                     "repeated");
  app.add_option("--parameter", options.parameters,
                 what +
                     "BOX.NAME=VALUE: a parameter's value instead of the file's, e.g. "
                     "'node[*].nic.injection=25GB/s'; may be repeated");
}

architecture::Choices choices_of(const ArchitectureOptions& options) {
  architecture::Choices choices;
  for (const std::string& text : options.levels)
    choices.levels.push_back(architecture::parse_level_choice(text));
  for (const std::string& text : options.parameters)
    choices.parameters.push_back(architecture::parse_parameter_choice(text));
  return choices;
}

architecture::Description read_architecture(const std::string& name) {
  return architecture::read_description(find_named(Named::architecture, name),
                                        data_directory() + "/architectures");
}

}  // namespace foretrace::cli
