// A run under way that is profiled: what its counters tell of its ranks.
//
// Counters tell how often and how long, not in which order. So whom a call waits for is a
// conclusion from sums, and what was sent and not received is not known.
#pragma once

#include <memory>
#include <string>

#include "analysis/call_profile.hpp"
#include "analysis/running.hpp"

namespace foretrace::analysis {

// RunningRun::messages: all that were sent.
RunningRun running_of(const trace::CallCounters& counters, const FindPlace& find_place);

// Throws Error where the file is no profile.
std::unique_ptr<RunLook> open_profile_run(const std::string& path, const trace::TellPlace& tell);

}  // namespace foretrace::analysis
