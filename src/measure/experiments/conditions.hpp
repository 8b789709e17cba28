// Conditions: what the machine and its MPI let a launch do, found out before it begins.
#pragma once

#include <cstdint>

#include "measure/experiments/group.hpp"

namespace foretrace::measure {

// Whether ranks that wait in MPI give their cores to each other, again and again: then being
// switched out is how they wait, and no sign that somebody else disturbed them. One that has a
// core to itself, or is switched out by somebody who computes, does not show it. Collective.
bool waits_by_yielding(const Group& world);

// The largest message that takes no more than 50 ms from one rank of the pair to the other, or
// 10 ms beyond `usual`; a power of two, at least 256 KiB: the protocols of MPI libraries
// change below that. At most `most`. Collective over `pair`; valid on its rank 0.
std::uint64_t affordable_bytes(const Group& pair, std::uint64_t usual, std::uint64_t most);

// Whether MPI makes windows on the world's communicator: over some networks some libraries have
// none. Collective.
bool has_windows(const Group& world);

}  // namespace foretrace::measure
