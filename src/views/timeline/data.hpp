// A trace as the time line page reads it: a JSON head and a stream of bytes.
//
// The page's decoder is web/src/decode.ts; both follow this description.
//
// The stream holds the ranks one after another; per event, in program order,
// unsigned LEB128 integers:
//
//   shape     2 * index into the head's `shapes`, + 1 where a wait follows
//   gap       from the previous event's leave to this one's enter
//   duration  leave - enter
//   wait      only where the shape says so
//   done      only for kind irecv: distance in events to the call that
//             completed the receive, 0 when none did
//   value     only for kind mark: 8 bytes, an IEEE double, low byte first
//
// Times are in the head's `unit`, a number of ps.
//
// A shape is what equal calls have in common, so that a regular program needs
// few bytes per event:
//   [kind, name, comm, send peer, tag, bytes, receive peer, tag, bytes,
//    collective bytes, root, count, place]
// Peers are relative to the calling rank, (peer - rank) mod ranks; -1 where
// there is none. A posted receive has the source, tag and size of the message
// that came. The place is an index into the head's `places`, plus one; 0 where it
// is not known. Events after MPI_Finalize are left out.
//
// The head's `comms` have the world ranks of their `members` as a list of [first, stride,
// count]; that of MPI_COMM_WORLD is left out. The head's `network` is that of network.hpp and
// its `rounds` those of rounds.hpp, where they are known.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/tell_place.hpp"
#include "trace/trace.hpp"
#include "views/timeline/encoder.hpp"
#include "views/timeline/network.hpp"
#include "views/timeline/rounds.hpp"

namespace foretrace::views {

struct TimelineData {
  std::string head;      // JSON, safe inside a <script> element
  std::string stream;    // bytes
  bool columns = false;  // a long stream, as columns.hpp orders it; to be packed
};

// `tell` says what a call site is called; `network`: that of the run, nullptr: not known.
TimelineData encode_timeline(const trace::Trace& trace, const trace::TellPlace& tell = {},
                             const RunNetwork* network = nullptr,
                             const std::vector<CallRounds>& rounds = {});

// What the run took, as analysis::Profile has it.
struct TimelineSummary {
  Time time;
  Time serial;
  std::optional<double> speedup;
  std::optional<double> efficiency;
};

// The head alone. `about`: a trace without its events. `more`: further fields, and their JSON.
std::string timeline_head(const trace::Trace& about, const trace::TellPlace& tell,
                          const TimelineSummary& summary, const TimelineEncoder& encoder,
                          const std::vector<TimelineEncoder::Rank>& ranks,
                          const std::vector<std::pair<std::string, std::string>>& more);

std::string base64(const std::string& bytes);

}  // namespace foretrace::views
