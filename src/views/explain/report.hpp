// What `foretrace explain` prints of an Explanation.
//
// Draws only; explain/explanation.hpp computes. Returns whole texts that end with a
// newline.
#pragma once

#include <string>
#include <vector>

#include "explain/explanation.hpp"
#include "explain/path_stretches.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace.hpp"

namespace foretrace::views {

// `where`: " of Cray T3D (network flow on torus:4x4)".
std::string render_text_explanation(const explain::Explanation& explanation,
                                    const std::string& where);

// A line for each call, with commas in between: by how much it may begin later; `places` by number.
std::string render_slacks(const explain::Run& run, const std::vector<explain::Place>& places,
                          const std::vector<std::vector<Time>>& slacks);

// One object with the fields that docs/explain.md lists; times in seconds.
std::string render_json_explanation(const explain::Explanation& explanation);

// A page with the explanation and the time line of `trace`, which is the simulated run,
// with its critical path drawn over it. One file; throws Error as render_html_timeline().
std::string render_html_explanation(const explain::Explanation& explanation,
                                    const std::string& where,
                                    const std::vector<explain::Stretch>& path,
                                    const trace::Trace& trace, const trace::TellPlace& tell);

// What one what-if brings.
std::string render_what_if(Time as_is, Time what_if, bool json);

// "MPI_Recv at halo.c:37 in phase solve"
std::string describe_place(const explain::Place& place);

}  // namespace foretrace::views
