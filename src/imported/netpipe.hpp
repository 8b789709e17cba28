// np.out of NetPIPE 3: size in bytes, megabits a second, half of a round trip in seconds.
#pragma once

#include <vector>

#include "imported/input.hpp"
#include "imported/measurements.hpp"

namespace foretrace::imported {

// Throws Error "FILE:LINE: ...".
Measurements read_netpipe(const std::vector<InputFile>& files);

}  // namespace foretrace::imported
