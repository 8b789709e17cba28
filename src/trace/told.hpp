// More TraceInfo::notes of a trace that is written already: what takes no time is known when all
// has been predicted.
#pragma once

#include <string>
#include <vector>

namespace foretrace::trace {

// Adds them to those of a trace that was just written, of predicted times or from another format.
// Its events stay where they are: for notes there is room, and of more than that the first ones are
// kept and the rest is counted. Throws Error.
void keep_notes(const std::string& path, const std::vector<std::string>& notes);

}  // namespace foretrace::trace
