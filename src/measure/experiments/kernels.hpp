// Kernels: small computations that two machines are compared by ([compute] of
// the machine model). Each exercises one thing; a program's phase is some mix of
// them. No MPI.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/core/kernel_levels.hpp"
#include "measure/experiments/compute_step.hpp"

namespace foretrace::measure {

struct KernelBlock {
  std::string name;
  int ranks = 0;       // that computed at once
  ComputeBlock block;  // seconds of one operation
};

// The ranks of a host, of which now these compute, now those.
struct Company {
  std::vector<int> counts;  // how many compute at once
  // Whether this rank does, of so many: once all are there.
  std::function<bool(int count)> begin;
  // Waits for those who do; who does not leaves core and memory alone meanwhile.
  std::function<void(bool computed)> end;
};

// `blocks` blocks of every kernel by each count of ranks, about a millisecond each. The counts take
// turns block by block, so that all of them meet what else goes on in the machine.
std::vector<KernelBlock> time_kernels(int blocks, const std::vector<KernelLevel>& levels,
                                      const Company& company);

}  // namespace foretrace::measure
