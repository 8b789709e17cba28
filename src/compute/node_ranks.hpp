// How many ranks compute at once on a node: they share its memory.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace foretrace::compute {

// On a rank's node: where CPU times are measured, and on the target. 0: not known.
struct NodeRanks {
  int here = 0;
  int there = 0;
  auto operator<=>(const NodeRanks&) const = default;
};

// By rank, of the numbers of the nodes on which the ranks run, and of those on which they are
// placed. Empty: not known.
std::vector<NodeRanks> ranks_of_nodes(const std::vector<std::int32_t>& here,
                                      const std::vector<std::int32_t>& there);

}  // namespace foretrace::compute
