// Ranks and nodes that compute more slowly than the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::compute {

struct Slower {
  bool are_nodes = false;  // else ranks
  int first = 0;
  int last = 0;
  double factor = 1;  // above 0: how much longer they compute
};

// "rank:3=1.2,node:0..7=1.5": one or several. Throws UsageError.
std::vector<Slower> parse_slower(std::string_view text);

// By rank the product of its factors; empty where there are none. `nodes`: by rank the number of
// its node; empty: not known. Throws UsageError for ranks and nodes that there are not.
std::vector<double> slower_by_rank(const std::vector<Slower>& slower,
                                   const std::vector<std::int32_t>& nodes, int ranks);

}  // namespace foretrace::compute
