// What messages take of data that nobody has written since it was sent last, as factors of the
// usual times: from samples that were taken in pairs.
#pragma once

#include "machine/machine_model.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// `untouched`: samples with such data (kUntouchedPrefix, which is cut off); `written`: the others.
// Sets Function::untouched of the functions that were measured in both ways: the middle over
// launches, at most 1, where any size differs by more than noise. What is as good as another
// function, and was not measured itself, takes that one's. Times below `negligible` seconds say
// nothing.
void set_untouched(const SampleSet& untouched, const SampleSet& written, double negligible,
                   machine::Functions& functions);

}  // namespace foretrace::measure
