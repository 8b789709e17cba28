#include "compute/node_ranks.hpp"

#include <algorithm>
#include <map>

namespace foretrace::compute {
namespace {

// By the number of its node, how many ranks it has.
std::map<std::int32_t, int> counts_of(const std::vector<std::int32_t>& nodes) {
  std::map<std::int32_t, int> counts;
  for (const std::int32_t node : nodes) ++counts[node];
  return counts;
}

}  // namespace

std::vector<NodeRanks> ranks_of_nodes(const std::vector<std::int32_t>& here,
                                      const std::vector<std::int32_t>& there) {
  std::map<std::int32_t, int> counts_here = counts_of(here);
  std::map<std::int32_t, int> counts_there = counts_of(there);
  std::vector<NodeRanks> result(std::max(here.size(), there.size()));
  for (std::size_t rank = 0; rank < result.size(); ++rank) {
    if (rank < here.size()) result[rank].here = counts_here[here[rank]];
    if (rank < there.size()) result[rank].there = counts_there[there[rank]];
  }
  return result;
}

}  // namespace foretrace::compute
