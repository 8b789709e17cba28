// The tables of a topology in TOML, for the two readers that meet them:
// topology files, and machine files with a [topology].
//
// Gives the specification alone, so that a regular network is not built before
// somebody asks for it, and the graph that stands node by node.
#pragma once

#include <string>

#include "toml_file/reader.hpp"
#include "topology/topology.hpp"

namespace foretrace::machine {

// `root` holds [[node]] and [[link]]. The shape is arbitrary where `topology`
// has no kind: then it has to be read as a graph. Checks all keys of
// `topology`, not those of `root`.
TopologySpec read_topology_spec(const TableReader& root, const TableReader& topology,
                                const std::string& default_name);
Topology read_topology_graph(const TableReader& root, const TableReader& topology,
                             const TopologySpec& spec);

}  // namespace foretrace::machine
