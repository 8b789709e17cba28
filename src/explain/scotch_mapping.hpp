// The Scotch library's mapping of a graph onto another (F. Pellegrini, Static mapping by dual
// recursive bipartitioning of process and architecture graphs, SHPCC 1994).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace foretrace::explain {

struct WeightedEdge {
  int a = 0;
  int b = 0;
  std::int32_t weight = 1;  // > 0
};

// `edges` of both graphs: one for each pair of vertices, a < b. The vertices of `source` are put
// on the first `places` of `target`, so that those with much weight between them come near each
// other by its edges' weights; nearly equally many on each. By vertex: its place. The same
// input gives the same mapping. Nothing if Foretrace was built without Scotch, or Scotch fails.
struct WeightedGraph {
  int vertices = 0;
  std::vector<WeightedEdge> edges;
};
std::optional<std::vector<int>> map_by_scotch(const WeightedGraph& source,
                                              const WeightedGraph& target, int places);

}  // namespace foretrace::explain
