// The text that the Intel MPI Benchmarks print.
//
// PingPong is half of a round trip. Of a collective the largest time over ranks counts,
// which is when the last one is done; calls follow each other without a barrier.
#pragma once

#include <vector>

#include "imported/input.hpp"
#include "imported/measurements.hpp"

namespace foretrace::imported {

// Throws Error "FILE:LINE: ...".
Measurements read_imb(const std::vector<InputFile>& files);

}  // namespace foretrace::imported
