// Which algorithm an MPI library takes by default, by size of the communicator
// and of the message.
//
// The rules as data are in openmpi.cpp and mpich.cpp; docs/collectives.md shows
// them. Reductions are taken to be commutative, buffers not in place, ranks not
// grouped by node.
#pragma once

#include "sim/collectives/algorithm.hpp"

namespace foretrace::sim::collectives {

// Open MPI 4.1; MPICH 4.0. For every collective that algorithms_for() knows. MPICH takes the
// same for posted ones, but for the allreduce.
const Algorithm& choose_openmpi(const CollectiveCall& call);
const Algorithm& choose_openmpi_posted(const CollectiveCall& call);
const Algorithm& choose_mpich(const CollectiveCall& call);

// Some rules count elements, which a call does not tell: taken to be of 8 bytes.
inline std::uint64_t elements_of(Bytes bytes) {
  return (bytes.count + 7) / 8;
}

}  // namespace foretrace::sim::collectives
