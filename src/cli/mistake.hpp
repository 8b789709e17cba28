// What is wrong with the words behind a sub-command's name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace foretrace::cli {

// With the option that was meant, if one is near.
std::string mistake_of(const CLI::ParseError& error, const CLI::App& subcommand);

}  // namespace foretrace::cli
