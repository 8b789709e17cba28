// The stream of a time line page in the order in which it packs best.
//
// In data.hpp's stream the numbers of an event stand side by side, and what is regular in one is
// hidden by what is noise in the next. Here each has a column, over all events:
//
//   shape     as in the stream
//   gap       likewise
//   own       duration less the wait, which is often the same where both differ
//   wait      of events whose shape says so
//   done      of posted receives
//
// and after these the values of marks, 8 bytes each. A column is one plane that says how many bytes
// each number has, one of all lowest bytes, one of all second ones, and so on. It begins with the
// number of its planes and their lengths, unsigned LEB128 integers.
//
// The page's reader is web/src/columns.ts.
#pragma once

#include <string>
#include <vector>

#include "views/timeline/encoder.hpp"

namespace foretrace::views {

// `stream`: of TimelineEncoder::take_stream(), `shapes`: its shapes.
std::string stream_columns(const std::string& stream, const std::vector<TimelineShape>& shapes);

}  // namespace foretrace::views
