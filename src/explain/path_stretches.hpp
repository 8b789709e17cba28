// The critical path as it can be drawn: on which rank it lies from when to when.
//
// Between two stretches it passes to another rank, by a message (then it takes time) or
// by a collective (at one moment). Computes nothing anew.
#pragma once

#include <vector>

#include "explain/critical_path.hpp"

namespace foretrace::explain {

struct Stretch {
  WorldRank rank;
  Time from;
  Time to;
};

// In the order of time; neighbours are on different ranks. Empty where the path is.
std::vector<Stretch> path_stretches(const Run& run, const std::vector<Step>& path);

}  // namespace foretrace::explain
