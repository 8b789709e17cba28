// Topologies, and lists of real machines' links, as descriptions.
#pragma once

#include <string>

#include "topology/topology.hpp"

namespace foretrace::architecture {

// `expression`: as --topology has it, where it is regular; else empty and every node and link is
// written. Processors are "processor", others "switch" or "bus".
std::string description_of(const machine::Topology& topology, const std::string& expression);

}  // namespace foretrace::architecture
