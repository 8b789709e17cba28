// Precision: how well the launches that there are agree, and which functions
// have too few undisturbed blocks to say anything.
#pragma once

#include <set>
#include <string>

#include "measure/core/samples.hpp"

namespace foretrace::measure {

struct Precision {
  // The middle, over all functions and points, of the half width of the 95 %
  // confidence interval over launches (of their medians), relative to their
  // mean. Infinite while no point has two launches.
  double half_width = 0;
  std::size_t points = 0;  // with two launches or more
};

Precision precision_of(const SampleSet& set);

// Functions that were disturbed at so many points that the figures are not to be
// trusted: at less than half of them, half of the launches have a block in
// which no rank was switched out.
std::set<std::string> invalid_functions(const SampleSet& set);

// Functions for which time was left for one or two message sizes only, where others have
// six and more: no equation follows from them, and their stand-ins know more.
std::set<std::string> sparse_functions(const SampleSet& set);

}  // namespace foretrace::measure
