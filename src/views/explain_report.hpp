// What `foretrace explain` prints of an Explanation.
//
// Draws only; explain/explanation.hpp computes. Returns whole texts that end with a
// newline.
#pragma once

#include <string>

#include "explain/explanation.hpp"

namespace foretrace::views {

// `where`: " of Cray T3D (network flow on torus:4x4)".
std::string render_text_explanation(const explain::Explanation& explanation,
                                    const std::string& where);

// One object with the fields that docs/explain.md lists; times in seconds.
std::string render_json_explanation(const explain::Explanation& explanation);

// What one what-if brings.
std::string render_what_if(Time as_is, Time what_if, bool json);

// "MPI_Recv at halo.c:37 in phase solve"
std::string describe_place(const explain::Place& place);

}  // namespace foretrace::views
