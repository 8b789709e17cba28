// Kernels: small computations that two machines are compared by ([compute] of
// the machine model). Each exercises one thing; a program's phase is some mix of
// them. No MPI.
#pragma once

#include <string>
#include <vector>

#include "measure/core/kernel_levels.hpp"
#include "measure/experiments/compute_step.hpp"

namespace foretrace::measure {

struct KernelBlock {
  std::string name;
  ComputeBlock block;  // seconds of one operation
};

// `blocks` blocks of every kernel, about a millisecond each, in turn.
std::vector<KernelBlock> time_kernels(int blocks, const std::vector<KernelLevel>& levels);

}  // namespace foretrace::measure
