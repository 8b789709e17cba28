// timeline --serve: the time line page of a trace of any size, from a server on this machine.
#pragma once

#include <string>

namespace foretrace::cli {

// Makes the view of the trace where there is none yet, then serves it until the user ends it.
// `view`: its file; empty: TRACE.view. Returns the exit status. Throws Error.
int serve_timeline(const std::string& trace, std::string view);

}  // namespace foretrace::cli
