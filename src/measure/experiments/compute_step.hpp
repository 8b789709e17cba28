// The time of one compute step: an arithmetic operation and the store of its
// result into an array (Howell's thesis section 5.2), data in the nearest cache.
#pragma once

#include <vector>

namespace foretrace::measure {

struct ComputeBlock {
  double seconds = 0;  // of one step
  bool kept = true;    // the thread was not switched out
};

std::vector<ComputeBlock> time_compute_steps(int blocks);

}  // namespace foretrace::measure
