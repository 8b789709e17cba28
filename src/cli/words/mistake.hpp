// What is wrong with the words of a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace foretrace::cli {

// `app`: the sub-command behind whose name they stand, or all of the tool. With the option that was
// meant, if one is near.
std::string mistake_of(const CLI::ParseError& error, const CLI::App& app);

// What is to be said where a machine model stands without --machine, as `calc` takes it: in the
// place of the program or trace, or right behind a trace; else nothing.
std::string misplaced_machine(const CLI::App& app);

}  // namespace foretrace::cli
