// --baseline: what a speed-up is against, instead of the sum of computation.
#pragma once

#include <string>

#include "base/time.hpp"

namespace foretrace::cli {

// "12.3s", or the time of the run that a trace holds. Throws UsageError for a text
// that is neither; Error as reading a trace does.
Time read_baseline(const std::string& text);

inline constexpr const char* kBaselineHelp =
    "Speed-up against this time of a serial run, such as 12.3s, or that of a trace; without it "
    "against the sum of all ranks' computation";

}  // namespace foretrace::cli
