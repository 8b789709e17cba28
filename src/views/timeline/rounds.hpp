// The messages of collectives that were simulated as messages, for the animation of the time line
// page: who sends to whom in which round.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "trace/trace.hpp"

namespace foretrace::views {

// Of equal calls.
struct CallRounds {
  trace::NameId name = 0;
  trace::CommId comm = 0;
  Bytes bytes;
  LocalRank root;  // invalid where there is none
  std::string algorithm;
  std::vector<std::vector<std::pair<WorldRank, WorldRank>>> rounds;  // from, to
};

// JSON: [{"call": [name, comm, bytes, root], "algorithm", "rounds": [[from, to, from, to, ...],
// ...]}, ...], as shapes have these; a root of -1: there is none.
std::string rounds_json(const std::vector<CallRounds>& calls);

}  // namespace foretrace::views
