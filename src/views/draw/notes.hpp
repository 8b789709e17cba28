// What every view says of a trace before it shows numbers: what it is, whether
// it is whole, whether it has times at all.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace foretrace::views {

// "predict, virtual clock, machine sparc5, bound=avg compute=none"
std::string describe_trace(const trace::TraceInfo& info);

// The command of a run on one line of a reasonable length: of a longer one the beginning.
std::string program_line(const std::string& program);

// Lines that start with "note: ", each with a newline; empty for a whole trace
// with times.
std::string trace_notes(const trace::TraceInfo& info, bool complete,
                        const std::vector<trace::Damage>& damage);

// The same as single sentences without "note: " and newline.
std::vector<std::string> trace_note_list(const trace::TraceInfo& info, bool complete,
                                         const std::vector<trace::Damage>& damage);

// "cpu", "wall", "virtual"
std::string clock_name(trace::Clock clock);

}  // namespace foretrace::views
