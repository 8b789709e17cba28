// How the launches of a measurement differ as a whole, and its states: what a program's run may be
// off by, since it is a launch, too.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/core/samples.hpp"
#include "measure/fit/fit.hpp"

namespace foretrace::measure {

// For each launch the middle, over what it measured, of (mean of all samples there) / (the model's
// time): all of them, since nobody leaves the disturbed calls of a program out. Of calls the
// functions that are to be trusted; of computation the kernels, 1 where a launch has none. Launches
// without calls are left out.
std::vector<machine::LaunchFactors> launch_factors(const std::vector<Sample>& samples,
                                                   const FitOutcome& outcome);

// Sets the model's other_state_share and its regimes' other_state from what was measured in other
// states, beside `used` samples in the model's own: the middle, over the points of a regime, of
// (median of the undisturbed samples there, at least three) / (the model's time). Of a regime
// without such points all of its function's count; without any, it stays.
void add_other_state(const std::vector<Sample>& others, std::size_t used,
                     machine::MachineModel& model);

}  // namespace foretrace::measure
