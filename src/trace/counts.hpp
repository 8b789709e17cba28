// Counts: how much each member of a collective has, where one size does not tell it.
//
// The functions of MPI with a count for each member (MPI_Alltoallv, ...) take lists of counts. A
// list stands beside an event where its messages would otherwise have other sizes than they have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "machine/timing.hpp"

namespace foretrace::trace {

// In bytes, of members by their local rank:
//   allgatherv, reduce_scatter   the part of each
//   gatherv, scatterv            at the root the part of each; elsewhere the rank's own alone
//   alltoallv, alltoallw         what goes to each, then what comes from each
using Counts = std::vector<Bytes>;
// Index into a table of such (Trace::counts), plus one; 0: there is none.
using CountsId = std::uint32_t;

// Whether a list of that length may stand beside the collective on so many members.
constexpr bool fits(std::size_t length, machine::Cost collective, std::size_t members) {
  using machine::Cost;
  switch (collective) {
    case Cost::allgatherv:
    case Cost::reduce_scatter:
      return length == members;
    case Cost::gatherv:
    case Cost::scatterv:
      return length == members || length == 1;
    case Cost::alltoallv:
    case Cost::alltoallw:
      return length == 2 * members;
    default:
      return false;
  }
}

// Whether the list has to stand there: its entries differ, or nothing is sent for them. The latter
// must be known to both sides of a message, and each may know of one list alone; in an allgatherv
// and a reduce_scatter all know the same list.
inline bool are_told(machine::Cost collective, const Counts& counts) {
  using machine::Cost;
  if (counts.empty()) return false;
  if (std::ranges::any_of(counts, [&](Bytes each) { return each != counts.front(); })) return true;
  return counts.front() == Bytes(0) && collective != Cost::allgatherv &&
         collective != Cost::reduce_scatter;
}

}  // namespace foretrace::trace
