// What several sub-commands read in the same way from an option: sizes, machines, topologies.
// Each is to be given to CLI::Option::transform().
#pragma once

#include <CLI/CLI.hpp>

namespace foretrace::cli {

// "64k", "64KiB", "4096": bytes.
CLI::Validator size_in_bytes();
// The name of a machine, a topology or an analytical model that comes with the tool: its file.
// Files stay.
CLI::Validator machine_name();
CLI::Validator topology_name();
CLI::Validator model_name();

// What --help says of a machine.
inline constexpr const char* kMachineHelp =
    ": a TOML file, or the name of one that comes with Foretrace (see foretrace machines)";

}  // namespace foretrace::cli
