// Reductions: what MPI_Reduce_local takes for each class of the machine's [reduction]. It needs
// no network, and is what a reduction does between its messages.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/reduction.hpp"
#include "measure/experiments/compute_step.hpp"

namespace foretrace::measure {

struct ReductionBlock {
  machine::Reduction what = machine::Reduction::none;
  std::uint64_t bytes = 0;
  ComputeBlock block;  // seconds of one call
};

// `blocks` blocks of each class and size: small ones in the nearest cache, and large ones.
std::vector<ReductionBlock> time_reductions(int blocks);

}  // namespace foretrace::measure
