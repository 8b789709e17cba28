// The TOML form of a topology (docs/topology.md): a kind with its parameters,
// incidence lists (Demaine 1996), or named nodes and links one by one.
//
// Unknown keys, wrong types and links that lead nowhere are errors that name
// file and line.
#pragma once

#include <string>
#include <string_view>

#include "topology/topology.hpp"

namespace foretrace::machine {

// Throws Error "FILE:LINE: what is wrong; what to do".
Topology read_topology_file(const std::string& path);
// The same from text; `name` stands for the file in messages.
Topology parse_topology(std::string_view text, const std::string& name);

}  // namespace foretrace::machine
