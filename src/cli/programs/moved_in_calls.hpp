// What `predict` leaves out while the program runs: messages that move only while their receiver is
// in a call (machine::LogGPS::attended_from).
#pragma once

#include <string>

namespace foretrace::cli {

// A rank of a predicted run does not know what the others do at the same virtual time. Their events
// do: where some messages are of that kind, the trace at `path` is replayed with them on the
// machine that it was predicted for, and replaced. A run that did not come to its end stays as it
// is. Throws Error.
void move_in_calls(const std::string& path, const std::string& machine, const std::string& bound,
                   bool in_other_state);

}  // namespace foretrace::cli
