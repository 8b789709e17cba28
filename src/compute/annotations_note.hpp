// What is to be said of a run whose computation is what the program announces.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::compute {

// What is to be said of a run under --compute annotated: that nothing announced its
// computation, or that the model has no time for it; else empty. `instead`: the word for
// CPU times.
std::string note_of_annotations(bool announced, double seconds_per_step, std::string_view instead);

// What is to be said where a program announces its computation, and CPU times are taken
// since nobody said what should be.
inline constexpr const char* kAnnotationsUnused =
    "the program announces its computation (FORETRACE_COMPUTE), but CPU times are taken; "
    "--compute annotated takes what it announces";

}  // namespace foretrace::compute
