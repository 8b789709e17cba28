// What-if on the graph of a run: its moments again with some links changed.
//
// Where the graph is fixed (sim::Dependences::fixed) these are the times that a
// simulation of the edited operations gives, to the picosecond; elsewhere they only
// say what to simulate.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "explain/edits.hpp"
#include "explain/run.hpp"

namespace foretrace::explain {

// The run time with `edits`: one pass over the graph. A finding's few calls of a site
// in a large run cost as much as all.
Time time_with(const Run& run, const Edits& edits);

// Goes through the moments from the last to the first. visit(id, tail): `tail` is the longest
// way from there to the end of a rank's program; negative where no end depends on it.
template <class Visit>
void each_tail(const Run& run, const Visit& visit) {
  constexpr Time kNone = Time::ps(-1);
  std::vector<Time> tails(run.slots.count(), kNone);
  for (const sim::MomentId end : run.ends)
    if (end != sim::kNoMoment) tails[run.slots.of(end)] = Time();
  for (std::size_t next = run.graph.size(); next-- > 0;) {
    const auto id = static_cast<sim::MomentId>(next);
    // Moments before this one may have the same slot.
    const Time tail = std::exchange(tails[run.slots.of(id)], kNone);
    visit(id, tail);
    if (tail < Time()) continue;
    for (const sim::Link& link : run.graph.links(id)) {
      Time& longest = tails[run.slots.of(link.from)];
      longest = std::max(longest, tail + link.takes);
    }
  }
}

// How much later a moment may be without effect on the run's time; the run's time where
// nothing depends on it.
inline Time slack(const Run& run, sim::MomentId id, Time tail) {
  return tail < Time() ? run.time : run.time - run.graph[id].at - tail;
}

// The slack of the beginning of each call, by rank and call.
std::vector<std::vector<Time>> slacks(const Run& run);

}  // namespace foretrace::explain
