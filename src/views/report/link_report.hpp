// The links of a simulated network: which one is hot, and when
// (`simulate --links`).
//
// Draws only; analysis/links.hpp computes. Texts end with a newline; the JSON
// array is a part of render_json_report's object.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/links.hpp"

namespace foretrace::views {

// A heading and a table of the `most` busiest links.
std::string render_text_links(const analysis::LinksProfile& profile, std::size_t most = 10);

// An array of all links that carried something, the busiest first: from (null
// for a bus), to, messages, bytes, busy (seconds), share, and busiest: from, to
// (seconds), share; null where no times are known.
std::string render_json_links(const analysis::LinksProfile& profile);

}  // namespace foretrace::views
