#include "explain/critical_path.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::explain {

using sim::Link;
using sim::LinkKind;
using sim::MomentId;

Parts& Parts::operator+=(const Parts& other) {
  compute += other.compute;
  overhead += other.overhead;
  latency += other.latency;
  bytes += other.bytes;
  synchronisation += other.synchronisation;
  files += other.files;
  queue += other.queue;
  return *this;
}

Parts parts_of(const Link& link) {
  Parts parts;
  if (link.kind == LinkKind::compute) {
    parts.compute = link.takes;
    return parts;
  }
  // A link that others' use made shorter than its parts has less of each.
  Time left = link.takes;
  const auto part = [&left](Time wanted) {
    const Time taken = std::clamp(wanted, Time(), std::max(left, Time()));
    left -= taken;
    return taken;
  };
  parts.overhead = part(link.overhead);
  const Time empty = part(link.latency);
  (link.kind == LinkKind::collective ? parts.synchronisation : parts.latency) = empty;
  parts.bytes = part(link.bytes);
  parts.queue = left;
  return parts;
}

namespace {

// What a call on files takes is no message's, whatever its link has it for.
Parts parts_in_call(const Run& run, const Link& link, MomentId in) {
  Parts parts = parts_of(link);
  const sim::Moment call = run.graph[in];
  if (link.kind == LinkKind::compute || !call.rank.valid() ||
      !run.in_files[run.call_of(call).place])
    return parts;
  Parts of_files;
  of_files.queue = std::exchange(parts.queue, Time());
  of_files.files = parts.sum();
  return of_files;
}

}  // namespace

std::optional<Link> binding_link(const sim::Dependences& graph, MomentId id) {
  const sim::Moment moment = graph[id];
  std::optional<Link> binding;
  for (const Link& link : graph.links(id)) {
    const sim::Moment from = graph[link.from];
    if (from.at + link.takes != moment.at) continue;
    if (!binding || from.rank == moment.rank) binding = link;
  }
  return binding;
}

std::vector<Step> critical_path(const Run& run) {
  std::vector<Step> path;
  MomentId at = sim::kNoMoment;
  for (const MomentId end : run.ends)
    if (end != sim::kNoMoment && (at == sim::kNoMoment || run.graph[end].at > run.graph[at].at))
      at = end;
  while (at != sim::kNoMoment) {
    Step step;
    step.to = at;
    step.call =
        run.graph[at].kind == sim::MomentKind::request && !path.empty() ? path.back().to : at;
    if (const std::optional<Link> link = binding_link(run.graph, at)) {
      step.from = link->from;
      step.kind = link->kind;
      step.parts = parts_in_call(run, *link, step.call);
    } else {
      step.parts.compute = run.graph[at].at;  // the beginning of a rank
    }
    at = step.from;
    path.push_back(step);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace foretrace::explain
