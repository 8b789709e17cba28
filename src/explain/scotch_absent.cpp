// Built where there is no Scotch library.
#include "explain/scotch_mapping.hpp"

namespace foretrace::explain {

std::optional<std::vector<int>> map_by_scotch(const WeightedGraph& /*source*/,
                                              const WeightedGraph& /*target*/, int /*places*/) {
  return std::nullopt;
}

}  // namespace foretrace::explain
