// What is wrong with the words of a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace foretrace::cli {

// `app`: the sub-command behind whose name they stand, or all of the tool. With the option that was
// meant, if one is near.
std::string mistake_of(const CLI::ParseError& error, const CLI::App& app);

}  // namespace foretrace::cli
