// How times vary from launch to launch, by number of ranks: one distribution for each program,
// way, machine and set of parameters.
//
// From a table of launches (query.hpp) to plain numbers; views draw them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/query.hpp"

namespace foretrace::results {

struct RankTimes {
  std::int64_t ranks = 0;
  std::vector<double> values;  // rising
  double lower = 0, median = 0, upper = 0;
};

struct Spread {
  std::vector<std::pair<std::string, std::string>> of;  // columns that tell spreads apart
  std::string quantity;
  std::vector<RankTimes> ranks;  // rising
};

// Of launches that are done; where no number of ranks has two launches there is none.
std::vector<Spread> spreads_of(const Table& launches, const std::string& quantity);

}  // namespace foretrace::results
