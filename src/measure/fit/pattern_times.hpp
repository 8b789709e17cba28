// What the patterns of contention took, for the machine's file: by these a network is judged.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// exchange_ring and exchange_mesh, each of the most ranks that it has:
// medians of the samples that were kept, of all where none was. Not those in `invalid`.
std::vector<machine::PatternTimes> pattern_times(const std::vector<Sample>& samples,
                                                 const std::set<std::string>& invalid);

}  // namespace foretrace::measure
