#include "explain/what_if.hpp"

#include <algorithm>

namespace foretrace::explain {

using sim::Dependences;
using sim::Link;
using sim::Moment;
using sim::MomentId;
using sim::MomentKind;

Time time_with(const Run& run, const Edits& edits) {
  const Dependences& graph = run.graph;
  std::vector<Time> at(run.slots.count());
  const auto slot = [&run](MomentId id) { return run.slots.of(id); };
  for (MomentId id = 0; id < graph.size(); ++id) {
    const Moment moment = graph[id];
    const auto links = graph.links(id);
    Time change;
    if (!edits.compute.empty())
      if (const auto call = run.call_begun(id, moment))
        change = edits.compute_before(run, moment.rank, moment.operation) - call->compute;
    Time when = links.empty() ? moment.at + change : Time();
    for (const Link& link : links) when = std::max(when, at[slot(link.from)] + link.takes + change);
    if (moment.kind == MomentKind::leave && edits.is_waitless(moment.rank, moment.operation))
      when = std::min(when, at[slot(moment.enter)] + (moment.alone - graph[moment.enter].at));
    at[slot(id)] = when;
  }
  Time time;
  for (const MomentId end : run.ends)
    if (end != sim::kNoMoment) time = std::max(time, at[slot(end)]);
  return time;
}

std::vector<std::vector<Time>> slacks(const Run& run) {
  std::vector<std::vector<Time>> all;
  for (const Calls& calls : run.calls) all.emplace_back(calls.size());
  each_tail(run, [&](MomentId id, Time tail) {
    const Moment moment = run.graph[id];
    if (run.call_begun(id, moment))
      all[static_cast<std::size_t>(moment.rank.value)][moment.operation] = slack(run, id, tail);
  });
  return all;
}

}  // namespace foretrace::explain
