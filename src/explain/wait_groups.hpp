// Equal waits as one: thousands in a loop are one finding.
#pragma once

#include "explain/explanation.hpp"
#include "explain/places.hpp"

namespace foretrace::explain {

// Longest first.
std::vector<WaitGroup> group_waits(const Run& run, const std::vector<Wait>& waits,
                                   const DelayCosts& delays, const Places& places);

}  // namespace foretrace::explain
