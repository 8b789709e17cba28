// How the launches of a measurement differ as a whole: what a program's run may be off by, since
// it is a launch, too.
#pragma once

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

}  // namespace foretrace::measure
