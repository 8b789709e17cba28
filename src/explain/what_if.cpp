#include "explain/what_if.hpp"

#include <algorithm>
#include <numeric>

namespace foretrace::explain {

using sim::Dependences;
using sim::Link;
using sim::LinkKind;
using sim::Moment;
using sim::MomentId;
using sim::MomentKind;

Time time_with(const Run& run, const Edits& edits) {
  const Dependences& graph = run.graph;
  std::vector<Time> at(run.slots.count);
  const auto slot = [&run](MomentId id) { return run.slots.of[id]; };
  for (MomentId id = 0; id < graph.size(); ++id) {
    const Moment& moment = graph[id];
    const auto links = graph.links(id);
    // What follows MPI_Finalize has no call; nobody waits for it.
    const bool has_call =
        moment.rank.valid() &&
        moment.operation < run.calls[static_cast<std::size_t>(moment.rank.value)].size();
    const bool begins =
        moment.kind == MomentKind::enter && has_call && run.call_of(moment).enter == id;
    Time change;
    if (begins && !edits.compute.empty())
      change =
          edits.compute_before(run, moment.rank, moment.operation) - run.call_of(moment).compute;
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

Tails::Tails(const Run& run) : tails_(run.graph.size(), Time::ps(-1)) {
  for (const MomentId end : run.ends)
    if (end != sim::kNoMoment) tails_[end] = Time();
  for (std::size_t id = run.graph.size(); id-- > 0;) {
    if (tails_[id] < Time()) continue;
    for (const Link& link : run.graph.links(static_cast<MomentId>(id)))
      tails_[link.from] = std::max(tails_[link.from], tails_[id] + link.takes);
  }
}

namespace {

// A longest way among those that pass between two moments and none in between.
struct Bypass {
  Time length;
  MomentId first = 0;  // moments [first, last) are passed by
  MomentId last = 0;
};

std::vector<Bypass> bypasses(const Run& run, const Tails& tails) {
  const Dependences& graph = run.graph;
  const auto size = static_cast<MomentId>(graph.size());
  std::vector<Bypass> all;
  const auto add = [&](Time length, MomentId first, MomentId last) {
    if (first < last) all.push_back({length, first, last});
  };
  for (MomentId id = 0; id < size; ++id) {
    if (!tails.reaches_end(id)) continue;
    const auto links = graph.links(id);
    if (links.empty()) add(graph[id].at + tails.tail(id), 0, id);
    for (const Link& link : links)
      add(graph[link.from].at + link.takes + tails.tail(id), link.from + 1, id);
  }
  for (const MomentId end : run.ends)
    if (end != sim::kNoMoment) add(graph[end].at, end + 1, size);
  std::ranges::sort(all, [](const Bypass& a, const Bypass& b) { return a.length > b.length; });
  return all;
}

}  // namespace

std::vector<Time> times_without_each_wait(const Run& run, const Tails& tails) {
  const Dependences& graph = run.graph;
  const auto size = static_cast<MomentId>(graph.size());
  // Longest first, each moment takes the first way that passes it by. `next` leads
  // to the next moment that has none yet.
  std::vector<MomentId> next(size + std::size_t{1});
  std::iota(next.begin(), next.end(), MomentId{0});
  const auto find = [&next](MomentId id) {
    while (next[id] != id) id = next[id] = next[next[id]];
    return id;
  };
  std::vector<Time> around(size);
  for (const Bypass& way : bypasses(run, tails))
    for (MomentId id = find(way.first); id < way.last; id = find(id)) {
      around[id] = way.length;
      next[id] = id + 1;
    }
  std::vector<Time> times(size, run.time);
  for (MomentId id = 0; id < size; ++id) {
    const Moment& moment = graph[id];
    if (moment.kind != MomentKind::leave || moment.wait() == Time()) continue;
    times[id] = around[id];
    if (tails.reaches_end(id)) times[id] = std::max(times[id], moment.alone + tails.tail(id));
  }
  return times;
}

}  // namespace foretrace::explain
