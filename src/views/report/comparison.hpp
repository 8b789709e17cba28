// What `foretrace compare` prints: the tables A, B and C of Howell's thesis, section
// 2.4.1, as text or JSON. Draws only; analysis/compare.hpp computes.
#pragma once

#include <string>

#include "analysis/compare.hpp"

namespace foretrace::views {

// Program times, the first difference if there is one, and the table of
// `level`. Texts end with a newline. A ratio x/0 is "inf" in text, null in
// JSON.
std::string render_text_comparison(const analysis::Comparison& comparison,
                                   analysis::CompareLevel level);
std::string render_json_comparison(const analysis::Comparison& comparison,
                                   analysis::CompareLevel level);

}  // namespace foretrace::views
