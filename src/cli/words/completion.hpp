// Completion in shells: what there is to complete, taken from the parser's own definitions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace foretrace::cli {

// One line for each sub-command: "command NAME SUMMARY", followed by a line for each of its
// options: "option NAME --LONG [VALUE]", in tabs. VALUE is "-" for a flag, the choices with
// commas where there are some (one that ends in ":" goes on, FILE is any file), "machine", or
// "file" for anything else.
std::string completion_data(const CLI::App& app);

}  // namespace foretrace::cli
