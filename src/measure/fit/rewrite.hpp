// What it takes longer to write data again that another rank has read, at the measured sizes.
#pragma once

#include <vector>

#include "machine/size_times.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// `samples`: those of one name that begins with kRewritePrefix. The middle over launches; what is
// below `negligible` seconds counts as nothing. Sizes are left out where a line between others
// tells their time, to 5 % or 20 ns. None where none was undisturbed.
std::vector<machine::SizeTime> rewrite_times(const std::vector<Sample>& samples, double negligible);

}  // namespace foretrace::measure
