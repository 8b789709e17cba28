// An architecture as the command line names it: its file, and what is chosen of it.
#pragma once

#include <string>
#include <vector>

#include "architecture/elaborate.hpp"

namespace CLI {
class App;
}

namespace foretrace::cli {

struct ArchitectureOptions {
  std::vector<std::string> levels;      // BOX=LEVEL
  std::vector<std::string> parameters;  // BOX.NAME=VALUE
};

// --level and --parameter; `what` begins their help.
void add_architecture_options(CLI::App& app, ArchitectureOptions& options,
                              const std::string& what = "");
// Throws UsageError.
architecture::Choices choices_of(const ArchitectureOptions& options);
// Of a file, or of the name of one that comes with the tool. Includes that are not beside the file
// come from those of the tool. Throws Error; UsageError for a name that is none.
architecture::Description read_architecture(const std::string& name);

}  // namespace foretrace::cli
