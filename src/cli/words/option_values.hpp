// What several sub-commands read in the same way from an option: sizes, machines, topologies.
// Each is to be given to CLI::Option::transform().
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <string>

namespace foretrace::cli {

// A number of that kind, both ends included. (CLI::Range says of a word that it is out of range.)
template <class Number>
CLI::Validator in_range(Number low, Number high) {
  const auto told = [](Number number) { return CLI::detail::to_string(number); };
  const char* const kind = std::integral<Number> ? "a whole number" : "a number";
  const std::string expected =
      std::string("expected ") + kind + " from " + told(low) + " to " + told(high) + ", found ";
  return {
      [=](std::string& text) {
        Number number{};
        const bool is_one = CLI::detail::lexical_cast(text, number);
        return is_one && low <= number && number <= high ? std::string() : expected + text;
      },
      (std::integral<Number> ? "INT in [" : "FLOAT in [") + told(low) + " - " + told(high) + "]"};
}

// "64k", "64KiB", "4096": bytes.
CLI::Validator size_in_bytes();
// The name of a machine, a topology or an analytical model that comes with the tool: its file.
// Files stay.
CLI::Validator machine_name();
CLI::Validator topology_name();
CLI::Validator topology_or_architecture_name();
CLI::Validator model_name();

// Words that shells offer as the value, and --help names; checks nothing. A word that ends in ":"
// goes on, and FILE is for any file.
CLI::Validator offers(const std::string& words);
// More than one option takes the same.
inline constexpr const char* kMpiWords = "openmpi,mpich";
inline constexpr const char* kCollectivesWords = "equation,algorithm,measured,openmpi,mpich";
// Before a run, and of a recorded one.
inline constexpr const char* kComputeWords = "none,annotated,counted,measured,table:,replayed:";
inline constexpr const char* kReplayWords =
    "none,annotated,counted,recorded,measured,table:,replayed:";

// What --help says of a machine.
inline constexpr const char* kMachineHelp =
    ": a TOML file, or the name of one that comes with Foretrace (see foretrace machines)";

}  // namespace foretrace::cli
