// Building a Topology from its specification.
//
// Node numbers: processors by rank, then switches (trees by level from below,
// omega by stage, dragonfly by group). Every link has its opposite, except in
// the omega network, which is passed one way.
#pragma once

#include <string>

#include "topology/shape.hpp"
#include "topology/topology.hpp"

namespace foretrace::machine {

// Any kind but arbitrary; within the limits of parse_shape.
Topology build_topology(const TopologySpec& spec);

// What a command line says: a file if the text ends in ".toml" or a file of that name
// exists, else an expression. Throws Error (the file) or UsageError (the
// expression).
Topology make_topology(const std::string& text);

}  // namespace foretrace::machine
