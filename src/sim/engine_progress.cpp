// Progress::calls: what moves only while its receiver is in a call that moves messages. A send is
// over, and a rendezvous begins, in the first such call of the receiver's that has not ended
// before. docs/theory.md has the rules.

#include <algorithm>
#include <array>
#include <utility>

#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using trace::EventKind;

namespace {

// What is sent when its receiver leaves a call is not moved by that call, also where messages take
// no time.
constexpr Time kLeastMessage = Time::ps(1);

}  // namespace

bool Engine::is_attended(const Rank& sender, const trace::Endpoint& to,
                         machine::SendMode mode) const {
  return in_calls_ && timing_.on(path_of(sender, to)).is_attended(mode, to.bytes);
}

// Whether the call that the rank is in does so: not if it only posts, or sends what waits for
// nobody.
bool Engine::moves_messages(const Rank& rank) {
  const Operation& operation = rank.operation;
  switch (operation.kind) {
    case EventKind::isend:
    case EventKind::irecv:
    case EventKind::icollective:
    case EventKind::phase_begin:
    case EventKind::phase_end:
    case EventKind::mark:
      return false;
    case EventKind::send:
      return waits_as_send(rank);
    case EventKind::call:
      return operation.in_vain || operation.idle || operation.probing != Probing::none ||
             operation.locking != Locking::none || costs_of(rank).moves;
    default:
      return true;
  }
}

// Whether the send that the rank makes would wait for its receiver.
bool Engine::waits_as_send(const Rank& rank) const {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  return to.peer.valid() && (is_attended(rank, to, operation.mode) ||
                             network_->is_rendezvous(path_of(rank, to), operation.mode, to.bytes));
}

bool Engine::is_in_call(WorldRank rank, Time now) const {
  const Attendance& attendance = attendances_[static_cast<std::size_t>(rank.value)];
  return attendance.until >= now || !attendance.threads.empty();
}

// A collective that is carried out as messages is one call. What stands for a blocking call of
// another thread is one until it is completed.
void Engine::enter_call(Rank& rank) {
  const Operation& operation = rank.operation;
  if (operation.silent) return;
  Attendance& attendance = attendances_[static_cast<std::size_t>(rank.id.value)];
  const bool is_step = rank.expansion && rank.expansion->active;
  const bool posts = (operation.kind == EventKind::isend && waits_as_send(rank)) ||
                     operation.kind == EventKind::irecv || operation.kind == EventKind::icollective;
  if (!is_step && posts && stands_for_blocking(operation)) {
    attendance.threads.push_back(operation.request);
  } else if (is_step || moves_messages(rank)) {
    attendance.until = Time::max();
  } else {
    return;
  }
  flush_waiting(attendance, rank.enter);
}

void Engine::leave_call(Rank& rank) {
  if (rank.expansion && rank.expansion->active) return;
  Attendance& attendance = attendances_[static_cast<std::size_t>(rank.id.value)];
  if (attendance.until == Time::max()) attendance.until = rank.clock;
  if (rank.operation.kind != EventKind::complete) return;
  std::erase_if(attendance.receives, [&](const auto& receive) {
    Stalled* const send = stalled_send(receive.second);
    const bool completed = !rank.requests.find(receive.first);
    if (send && completed) send->met = true;
    return !send || completed;
  });
  if (attendance.threads.empty()) return;
  for (const trace::Completion& completion : rank.operation.completions)
    if (std::erase(attendance.threads, completion.request) > 0)
      attendance.until = std::max(attendance.until, rank.clock);
}

// Nobody waits for a rank that makes no calls any more.
void Engine::end_attendance(const Rank& rank) {
  Attendance& attendance = attendances_[static_cast<std::size_t>(rank.id.value)];
  attendance.until = Time::max();
  flush_waiting(attendance, std::max(rank.clock, now_));
}

void Engine::flush_waiting(Attendance& attendance, Time when) {
  for (const std::uint32_t number : std::exchange(attendance.waiting, {}))
    go_on_attended(number, when, true);
}

// An eager send (request 0: the sender is in the call). Stalled::id.
std::uint64_t Engine::end_when_attended(Rank& sender, std::uint64_t request,
                                        const SendTimes& times) {
  Stalled send;
  send.from = sender.id;
  send.to = sender.operation.send.peer;
  send.request = request;
  send.end = request != 0 ? times.end : times.leave;
  send.bytes = sender.operation.send.bytes;
  if (log_) {
    send.own.from = log_->entered(sender.id);
    send.own.takes = send.end - sender.enter;
    send.own.overhead = send.own.takes - std::max(times.start - sender.enter, Time());
  }
  return wait_for_receiver(send, std::max(send.end, sender.enter + kLeastMessage));
}

// nullptr: it is over.
Engine::Stalled* Engine::stalled_send(std::uint64_t id) {
  Stalled& stalled = stalled_[static_cast<std::uint32_t>(id)];
  return id != 0 && stalled.id == id ? &stalled : nullptr;
}

// Its message has a receive: who gets it has been in MPI, whenever the send would end after.
void Engine::meet_stalled(std::uint64_t id, const Rank& receiver, const PendingRecv& recv) {
  Stalled* const send = stalled_send(id);
  if (!send) return;
  if (recv.kind != machine::RecvKind::posted)
    send->met = true;
  else if ((recv.request & (kPartRequest | kDetachedRequest)) == 0)
    attendances_[static_cast<std::size_t>(receiver.id.value)].receives.emplace_back(recv.request,
                                                                                    id);
}

// A rendezvous with a posted receive, both of which are known; false: it need not wait. The
// receiver is looked for when an empty one would end.
bool Engine::meet_when_attended(const Meeting& meeting, const PendingSend& send, std::int32_t tag,
                                const PendingRecv& recv) {
  const machine::Path path =
      machine::of_data(network_->path(meeting.from, meeting.to), meeting.stamp.untouched);
  if (!meeting.stamp.rendezvous || recv.kind != machine::RecvKind::posted ||
      !timing_.on(path).is_attended(meeting.mode, meeting.stamp.bytes))
    return false;
  Meeting empty = meeting;
  empty.stamp.bytes = Bytes(0);
  const Delivery first = network_->deliver(empty);
  const Delivery whole = network_->deliver(meeting);
  Stalled met;
  met.kind = Stalled::Kind::meeting;
  met.from = meeting.from;
  met.to = meeting.to;
  met.send = send;
  met.tag = tag;
  met.receive = recv;
  wait_for_receiver(met,
                    std::max(std::min({first.sender, first.arrival, whole.sender, whole.arrival}),
                             std::max(meeting.stamp.sent, meeting.entered) + kLeastMessage));
  return true;
}

// The same between nodes, where messages are on their way: the request is there.
bool Engine::answer_when_attended(MessageId message) {
  const Flight& flight = flights_[message];
  if (flight.receive.kind != machine::RecvKind::posted ||
      !timing_.on(network_->path(flight.from, flight.to)).is_attended(flight.mode, flight.bytes))
    return false;
  Stalled answer;
  answer.kind = Stalled::Kind::answer;
  answer.from = flight.from;
  answer.to = flight.to;
  answer.number = message;
  wait_for_receiver(answer, std::max(flight.arrival, flight.receive.entered));
  return true;
}

// What a rank has posted goes on in its calls; false: it need not wait. The steps up to the first
// that waits are part of the call that posts.
bool Engine::step_when_attended(const Event& event) {
  const PostedCollective& posted = posted_[event.payload];
  if (!posted.has_waited || posted.blocks || is_in_call(posted.rank, event.time)) return false;
  Stalled step;
  step.kind = Stalled::Kind::step;
  step.from = step.to = posted.rank;
  step.number = event.payload;
  attendances_[static_cast<std::size_t>(posted.rank.value)].waiting.push_back(
      stalled_.take(std::move(step)));
  return true;
}

// Of posted collectives by equation, those whose members need not wait for others to begin
// (released_), by the call of `rank`. Each takes its time once its member has been in a call, and
// whose messages go through or come from others' memory: those others.
void Engine::gather_when_attended(const Rank& rank) {
  const Operation& operation = rank.operation;
  const std::vector<WorldRank>& members = source_.comm(operation.comm).members;
  const machine::Dependence dependence = timing_.dependence(operation.collective);
  Gathering all;
  for (const Release& release : released_) {
    if (release.request == 0 || (release.request & kDetachedRequest) != 0) continue;
    Rank& member = rank_of(release.rank);
    if (stands_for_blocking(member, release.request)) continue;
    const Request& posted = *member.requests.find(release.request);
    const machine::Timing& rules = rules_in(operation.comm, release.untouched);
    const Bytes bytes = rules.charged(posted.collective, posted.bytes, release.largest);
    const bool needs_others =
        members.size() > 2 || rules.is_attended(machine::SendMode::standard, bytes);
    const WorldRank root = operation.root.valid()
                               ? members[static_cast<std::size_t>(operation.root.value)]
                               : WorldRank();
    Gathering one;
    one.comm = operation.comm;
    one.latest = release.latest;
    one.releases = {release};
    if (needs_others && dependence == machine::Dependence::all_for_all) {
      all.comm = operation.comm;
      all.latest = release.latest;
      all.releases.push_back(release);
    } else if (needs_others && dependence == machine::Dependence::root_for_all &&
               release.rank == root) {
      await_members(std::move(one), members);
    } else if (needs_others && dependence == machine::Dependence::all_for_root &&
               release.rank != root) {
      await_members(std::move(one), std::array{release.rank, root});
    } else {
      await_members(std::move(one), std::array{release.rank});
    }
  }
  if (!all.releases.empty()) await_members(std::move(all), members);
}

void Engine::await_members(Gathering gathering, std::span<const WorldRank> members) {
  gathering.missing = static_cast<std::uint32_t>(members.size());
  const Time latest = gathering.latest;
  const std::uint32_t number = gatherings_.take(std::move(gathering));
  for (const WorldRank member : members) {
    Stalled awaited;
    awaited.kind = Stalled::Kind::collective;
    awaited.from = awaited.to = member;
    awaited.number = number;
    wait_for_receiver(awaited, latest);
  }
}

// Stalled::id.
std::uint64_t Engine::wait_for_receiver(Stalled stalled, Time when) {
  const std::int32_t sender = stalled.from.value;
  if (when > kEndOfTime) too_late(rank_of(stalled.from));
  const std::uint32_t number = stalled_.take(std::move(stalled));
  const std::uint64_t id = std::uint64_t{++stalled_count_} << 32 | number;
  stalled_[number].id = id;
  events_.push({when, EventClass::attend, sender, stalled_count_, number});
  return id;
}

void Engine::look_for_receiver(const Event& event) {
  const Stalled& stalled = stalled_[event.payload];
  if (stalled.met || is_in_call(stalled.to, event.time))
    go_on_attended(event.payload, event.time, false);
  else
    attendances_[static_cast<std::size_t>(stalled.to.value)].waiting.push_back(event.payload);
}

// `late`: its receiver was in no call when it looked, and is now.
void Engine::go_on_attended(std::uint32_t number, Time when, bool late) {
  Stalled stalled = stalled_[number];
  stalled_[number].id = 0;
  stalled_.give_back(number);
  switch (stalled.kind) {
    case Stalled::Kind::send:
      if (stalled.id != 0) end_attended_send(stalled, when, late);
      return;
    case Stalled::Kind::meeting:
      if (late) stalled.receive.entered = when;
      return meet(rank_of(stalled.from), stalled.send, stalled.tag, rank_of(stalled.to),
                  stalled.receive, true);
    case Stalled::Kind::answer:
      if (late) flights_[stalled.number].receive.entered = when;
      return answer(stalled.number, true);
    case Stalled::Kind::step:
      posted_[stalled.number].clock = std::max(posted_[stalled.number].clock, when);
      return go_on(stalled.number);
    case Stalled::Kind::collective: {
      Gathering& gathering = gatherings_[stalled.number];
      gathering.latest = std::max(gathering.latest, late ? when : Time());
      if (--gathering.missing > 0) return;
      const Gathering whole = std::move(gathering);
      gatherings_.give_back(stalled.number);
      for (const Release& release : whole.releases)
        end_posted_by_equation(release, whole.comm, whole.latest);
      return;
    }
  }
}

void Engine::end_attended_send(const Stalled& send, Time when, bool late) {
  Rank& sender = rank_of(send.from);
  const bool is_part = (send.request & kPartRequest) != 0;
  Link attended;
  if (log_ && !is_part && late) {
    attended.kind = LinkKind::answer;
    attended.from = log_->entered(send.to);
    attended.takes = when - (*log_)[attended.from].at;
  }
  if (send.request == 0) {
    sender.send_delay = when - send.end;
    if (log_ && late) log_->add(sender.id, attended);
  } else if (log_ && !is_part) {
    Link links[2] = {send.own, attended};
    log_->end_request(sender.id, send.request, when, std::span(links, late ? 2 : 1));
  }
  sender_done(sender, send.request, when, send.bytes);
}

}  // namespace foretrace::sim
