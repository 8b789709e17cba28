#include "explain/waits.hpp"

#include <algorithm>
#include <cstdint>

#include "explain/critical_path.hpp"

namespace foretrace::explain {

using machine::Cost;
using machine::Dependence;
using sim::Link;
using sim::LinkKind;
using sim::MomentId;
using sim::MomentKind;

namespace {

WaitKind kind_of(Cost collective) {
  if (collective == Cost::barrier) return WaitKind::wait_at_barrier;
  switch (machine::dependence_of(collective)) {
    case Dependence::all_for_root:
      return WaitKind::late_broadcast;
    case Dependence::root_for_all:
      return WaitKind::early_reduce;
    case Dependence::prefix:
      return WaitKind::early_scan;
    case Dependence::all_for_all:
      break;
  }
  return WaitKind::wait_at_nxn;
}

// Follows the binding links from a leave back to where somebody else entered a call.
struct Source {
  MomentId cause = sim::kNoMoment;
  LinkKind by = LinkKind::own;
  Time queue;          // on the way from there
  bool moves = false;  // data, on that way
};
Source source_of(const Run& run, MomentId leave) {
  const WorldRank rank = run.graph[leave].rank;
  MomentId at = leave;
  Source source;
  while (const std::optional<Link> link = binding_link(run.graph, at)) {
    if (link->kind != LinkKind::request && link->kind != LinkKind::gather) source.by = link->kind;
    source.queue += parts_of(*link).queue;
    source.moves = source.moves || link->latency > Time() || link->bytes > Time();
    at = link->from;
    const auto kind = run.graph[at].kind;
    if (kind != MomentKind::enter) continue;
    if (run.graph[at].rank == rank) return source;
    source.cause = at;
    // The data went when its receiver was there: the sender has waited for that as for an answer.
    if (link->kind == LinkKind::own) source.by = LinkKind::answer;
    return source;
  }
  return source;
}

// Late senders whose receiver could have gone on meanwhile: it receives another message
// later that was sent before.
void find_wrong_order(const Run& run, std::vector<Wait>& waits) {
  // By rank: when the earliest was sent of the messages that it receives from here on.
  std::vector<Time> earliest(run.calls.size(), Time::max());
  auto wait = waits.rbegin();
  for (MomentId id = static_cast<MomentId>(run.graph.size()); id-- > 0;) {
    const sim::Moment& moment = run.graph[id];
    if (!moment.rank.valid()) continue;
    const auto rank = static_cast<std::size_t>(moment.rank.value);
    if (moment.operation >= run.calls[rank].size()) continue;
    if (wait != waits.rend() && wait->leave == id) {
      if (wait->kind == WaitKind::late_sender && earliest[rank] < run.graph[wait->cause].at)
        wait->kind = WaitKind::wrong_order;
      ++wait;
    }
    if (run.call_of(moment).kind == trace::EventKind::collective) continue;
    for (const Link& link : run.graph.links(id))
      if (link.kind == LinkKind::message)
        earliest[rank] = std::min(earliest[rank], run.graph[link.from].at);
  }
}

}  // namespace

std::string_view name_of(WaitKind kind) {
  constexpr std::string_view kNames[] = {"late sender",
                                         "messages in wrong order",
                                         "late receiver",
                                         "wait at barrier",
                                         "barrier completion",
                                         "wait at n-to-n",
                                         "n-to-n completion",
                                         "early reduce",
                                         "late broadcast",
                                         "early scan",
                                         "contention",
                                         "transfer",
                                         "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

WaitKind completion_kind(const Call& call) {
  return call.collective == Cost::barrier ? WaitKind::barrier_completion : WaitKind::nxn_completion;
}

std::vector<Wait> find_waits(const Run& run) {
  std::vector<Wait> waits;
  for (MomentId id = 0; id < run.graph.size(); ++id) {
    const sim::Moment& moment = run.graph[id];
    if (moment.kind != MomentKind::leave || moment.wait() == Time()) continue;
    if (moment.operation >= run.calls[static_cast<std::size_t>(moment.rank.value)].size()) continue;
    Wait wait;
    wait.leave = id;
    const Source source = source_of(run, id);
    const Time entered = run.graph[moment.enter].at;
    if (source.cause != sim::kNoMoment)
      wait.lateness = std::clamp(run.graph[source.cause].at - entered, Time(), moment.wait());
    wait.transfer = moment.wait() - wait.lateness;
    if (const Time first = run.first_leave(moment); first < moment.at)
      wait.completion = std::min(moment.at - first, moment.wait());
    const Call& call = run.call_of(moment);
    const bool collective = call.kind == trace::EventKind::collective;
    if (wait.lateness == Time()) {
      wait.kind = source.by == LinkKind::own && source.cause == sim::kNoMoment && !collective &&
                          !source.moves && call.kind == trace::EventKind::call
                      ? WaitKind::other
                      : WaitKind::transfer;
    } else {
      wait.cause = source.cause;
      wait.kind = collective                       ? kind_of(call.collective)
                  : source.by == LinkKind::message ? WaitKind::late_sender
                  : source.by == LinkKind::answer  ? WaitKind::late_receiver
                  : source.by == LinkKind::own     ? WaitKind::other  // for a lock
                                                   : WaitKind::wait_at_nxn;
      // A posted collective is waited for in another call.
      if (source.by == LinkKind::collective && !collective)
        wait.kind = kind_of(run.call_of(run.graph[source.cause]).collective);
    }
    if (wait.kind != WaitKind::other) wait.contention = std::min(source.queue, wait.transfer);
    waits.push_back(wait);
  }
  find_wrong_order(run, waits);
  return waits;
}

}  // namespace foretrace::explain
