// The text that the OSU micro-benchmarks print.
//
// osu_latency is half of a round trip; a collective's value is the mean over the
// ranks (its largest, where the full output has that) of calls on warm buffers
// with a barrier before each. Several tables of one benchmark are repetitions.
#pragma once

#include <vector>

#include "imported/input.hpp"
#include "imported/measurements.hpp"

namespace foretrace::imported {

// Throws Error "FILE:LINE: ...".
Measurements read_osu(const std::vector<InputFile>& files);

}  // namespace foretrace::imported
