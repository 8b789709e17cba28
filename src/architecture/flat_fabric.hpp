// From a flat architecture to what simulates it: the fabric of its switches.
#pragma once

#include <vector>

#include "architecture/elaborate.hpp"
#include "architecture/fabric.hpp"

namespace foretrace::architecture {

struct FlatFabric {
  Fabric fabric;
  entity::Ps cycle = 1000;
  std::int64_t flit_bytes = 16;
  std::vector<int> router_entity;    // by router
  std::vector<int> terminal_entity;  // by terminal
};

enum class Terminals : std::uint8_t {
  processors,  // of each its first switch; what lies between (NIC, memory) is passed over
  links,       // whatever is joined to a switch, by each of its links
};

// Switches and omega elements become routers. Processors that are joined to each other get a
// router each, and are its terminal. Throws Error for what has no switches, and for switches of
// different cycles or flits.
FlatFabric fabric_of(const FlatArchitecture& architecture,
                     Terminals terminals = Terminals::processors);

// What a switch's parameters say. `own`: what "own" routing means here.
SwitchSettings settings_of(const FlatEntity& entity, Routing own);
// The routing that suits a template: dimension order in grids, any way up in trees, else a table or
// up*/down* where a table could deadlock.
Routing own_routing(machine::TopologyKind kind);

}  // namespace foretrace::architecture
