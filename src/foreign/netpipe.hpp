// np.out of NetPIPE 3: size in bytes, megabits a second, half of a round trip in seconds.
#pragma once

#include <vector>

#include "foreign/input.hpp"
#include "foreign/measurements.hpp"

namespace foretrace::foreign {

// Throws Error "FILE:LINE: ...".
Measurements read_netpipe(const std::vector<InputFile>& files);

}  // namespace foretrace::foreign
