// Jumps of the time between neighbouring message sizes, as all launches see them.
//
// The search of a launch (thresholds.hpp) proposes; the launches after it measure both
// sides of each proposal for every function, and decide.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/fit/terms.hpp"

namespace foretrace::measure {

// Last sizes below a jump, ascending: where two sizes at most 8 bytes and an eighth apart
// differ by more than 4 % and than launches differ by chance, for some number of ranks (so
// that with a probability of 95 % no step that is none is taken for one); and those of
// `proposed` but for the ones that three launches or more see no jump of 2 % at.
std::vector<std::uint64_t> seen_jumps(const std::vector<Observation>& observations,
                                      const std::vector<std::uint64_t>& proposed);

}  // namespace foretrace::measure
