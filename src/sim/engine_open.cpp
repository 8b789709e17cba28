#include <algorithm>

#include "base/error.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

Racing& Engine::racing(Rank& rank) {
  if (!rank.racing) rank.racing = std::make_unique<Racing>();
  return *rank.racing;
}

// Open receives get their message when its header is there: after everything
// that begins at that time, so that the order of ranks does not matter.
void Engine::open_receive(Rank& rank, machine::RecvKind kind, std::uint64_t request) {
  const Operation& operation = rank.operation;
  if (operation.recv.peer.valid()) partner(rank, operation.recv.peer);
  racing(rank).open.push_back({operation.comm, operation.recv, kind, request, rank.enter});
  Found found;
  if (!first_to_arrive(rank, operation.comm, operation.recv, found)) return;
  // A header that was there before is known to be the first, and a test at this very time finds
  // what it began.
  if (found.header < rank.enter && kind == machine::RecvKind::posted)
    settle(rank, rank.enter - Time::ps(1));
  else
    look_at(rank, std::max(found.header, rank.enter));
}

// A message waits at a rank that has (had) open receives.
void Engine::note_arrival(Rank& receiver, const Route& route, const PendingSend& send, Time now) {
  if (route.comm & kCollectiveComm) return;
  const Time header = network_->header(route.source, route.destination, send.stamp);
  receiver.racing->arrivals.add(
      route.comm, {header, route.source, send.order, route.tag},
      [&](const WaitingMessage& other) { return waits(receiver, route.comm, other); });
  if (receiver.has_open_receives() || receiver.probing) look_at(receiver, std::max(header, now));
}

// Whether nobody has taken the message yet: those of one route go in order.
bool Engine::waits(const Rank& receiver, trace::CommId comm, const WaitingMessage& message) {
  const auto first = matcher_.first_message({comm, message.source, receiver.id, message.tag});
  return first && static_cast<std::int32_t>(message.order - first->order) >= 0;
}

// The rank looks for messages at `when`, unless it does so before.
void Engine::look_at(Rank& rank, Time when) {
  Time& next = racing(rank).next_look;
  if (when >= next) return;
  next = when;
  events_.push({when, EventClass::header, rank.id.value, looks_++, 0});
}

// The same when the header of the next message under way that fits is there.
void Engine::look_when_there(Rank& rank, trace::CommId comm, const trace::Endpoint& pattern,
                             Time now) {
  Found found;
  if (first_to_arrive(rank, comm, pattern, found)) look_at(rank, std::max(found.header, now));
}

// Among the messages that wait and fit the one whose header is there first.
bool Engine::first_to_arrive(Rank& rank, trace::CommId comm, const trace::Endpoint& pattern,
                             Found& found) {
  Arrivals& arrivals = racing(rank).arrivals;
  if (pattern.peer.valid()) return first_from(rank, comm, pattern, found);
  const auto there = [&](const WaitingMessage& message) { return waits(rank, comm, message); };
  if (!arrivals.knows(comm, pattern.tag)) {
    arrivals.learn(comm, pattern.tag);
    matcher_.for_each_message(rank.id, [&](const Route& route, const PendingSend& send) {
      if (route.comm != comm || (pattern.tag != kAnyTag && route.tag != pattern.tag)) return;
      const Time header = network_->header(route.source, route.destination, send.stamp);
      arrivals.add_to(comm, pattern.tag, {header, route.source, send.order, route.tag}, there);
    });
  }
  WaitingMessage first;
  if (!arrivals.first(comm, pattern.tag, there, first)) return false;
  found.route = {comm, first.source, rank.id, first.tag};
  found.send = *matcher_.first_message(found.route);
  found.header = first.header;
  return true;
}

// The same for a named source, whose messages come in the order of sending.
bool Engine::first_from(const Rank& rank, trace::CommId comm, const trace::Endpoint& pattern,
                        Found& found) {
  bool any = false;
  const auto take = [&](const Route& route, const PendingSend& send) {
    if (any && found.send.order < send.order) return;
    found = {route, send, network_->header(route.source, route.destination, send.stamp)};
    any = true;
  };
  if (pattern.tag != kAnyTag) {
    const Route route{comm, pattern.peer, rank.id, pattern.tag};
    if (const auto send = matcher_.first_message(route)) take(route, *send);
  } else {
    matcher_.for_each_message(rank.id, [&](const Route& route, const PendingSend& send) {
      if (route.comm == comm && route.source == pattern.peer) take(route, send);
    });
  }
  return any;
}

// Gives the messages whose headers are there to the receives posted first.
void Engine::settle(Rank& rank, Time now) {
  Racing& all = racing(rank);
  if (now >= all.next_look) all.next_look = Time::max();
  // Many receives that ask for the same are looked at as one.
  std::size_t in_vain = SIZE_MAX;
  for (std::size_t i = 0; i < all.open.size();) {
    Found found;
    const OpenReceive& receive = all.open[i];
    if (in_vain < i && receive.asks_same(all.open[in_vain])) {
      ++i;
      continue;
    }
    if (!first_to_arrive(rank, receive.comm, receive.pattern, found) || found.header > now) {
      in_vain = i++;
      continue;
    }
    const PendingRecv recv{receive.entered, receive.kind, receive.request};
    all.open.erase(all.open.begin() + static_cast<std::ptrdiff_t>(i));
    matcher_.take_message(found.route);
    Rank& sender = rank_of(found.route.source);
    if (!found.send.stamp.rendezvous) --sender.unreceived;
    if (recv.kind != machine::RecvKind::posted) {
      rank.operation.recv.peer = found.route.source;
      rank.operation.recv.tag = found.route.tag;
      rank.operation.recv.bytes = found.send.stamp.bytes;
    }
    meet(sender, found.send, found.route.tag, rank, recv);
  }
  if (rank.probing && look(rank, now)) {
    rank.probing = false;
    rank.leave = now + call_cost(rank);
    advance(rank);
  }
  const OpenReceive* before = nullptr;
  for (const OpenReceive& receive : all.open) {
    if (!before || !receive.asks_same(*before))
      look_when_there(rank, receive.comm, receive.pattern, now);
    before = &receive;
  }
  if (rank.probing) look_when_there(rank, rank.operation.comm, rank.operation.recv, now);
}

// What the rank has posted before comes first, also for headers of this very time.
void Engine::settle_open(Rank& rank) {
  if (rank.has_open_receives()) settle(rank, rank.enter);
}

void Engine::start_probe(Rank& rank) {
  if (!races_) fail(rank, "a probe, but its source says that nothing races");
  const Probing probing = rank.operation.probing;
  const bool polls = probing == Probing::look || probing == Probing::take_look;
  settle_open(rank);
  const bool found = look(rank, rank.enter);
  if (found || (polls && rank.operation.patience == Time())) {
    rank.leave = rank.enter + (found ? call_cost(rank) : poll_cost(rank));
    return;
  }
  rank.probing = true;
  look_when_there(rank, rank.operation.comm, rank.operation.recv, rank.enter);
  if (polls) give_up_later(rank);
}

// Receives the message that a probe of the rank has taken.
void Engine::receive_taken(Rank& rank, machine::RecvKind kind, std::uint64_t request) {
  Operation& operation = rank.operation;
  const auto is_it = [&](const HeldMessage& held) { return held.number == operation.taken; };
  std::vector<HeldMessage>& all = racing(rank).held;
  const auto found = std::ranges::find_if(all, is_it);
  if (found == all.end())
    fail(rank,
         "receives message " + std::to_string(operation.taken) + ", which no probe has taken");
  const HeldMessage held = *found;
  all.erase(found);
  operation.comm = held.route.comm;
  operation.recv.peer = held.route.source;
  operation.recv.tag = held.route.tag;
  Rank& sender = rank_of(held.route.source);
  if (!held.send.stamp.rendezvous) --sender.unreceived;
  if (kind == machine::RecvKind::posted) {
    Request* const posted = rank.requests.find(request);
    posted->peer = held.route.source;
    posted->tag = held.route.tag;
    posted->comm = held.route.comm;
  } else {
    ++rank.waiting_for;
    rank.recv_open = true;
    operation.recv.bytes = held.send.stamp.bytes;
  }
  meet(sender, held.send, held.route.tag, rank, {rank.enter, kind, request});
}

// Whether a message is there that fits the rank's probe; what it is like. One that
// takes it takes it.
bool Engine::look(Rank& rank, Time now) {
  Found found;
  if (!first_to_arrive(rank, rank.operation.comm, rank.operation.recv, found) || found.header > now)
    return false;
  rank.received = true;
  rank.message.peer = found.route.source;
  rank.message.tag = found.route.tag;
  rank.message.bytes = found.send.stamp.bytes;
  rank.payload = 0;
  const Probing probing = rank.operation.probing;
  if (probing == Probing::take_wait || probing == Probing::take_look) {
    matcher_.take_message(found.route);
    racing(rank).held.push_back({rank.operation.request, found.route, found.send});
  }
  rank.operation.kind = trace::EventKind::probe;
  rank.operation.recv.peer = rank.message.peer;
  rank.operation.recv.tag = rank.message.tag;
  rank.operation.recv.bytes = rank.message.bytes;
  return true;
}

// Before this, no other rank does anything, unless this one does.
Time Engine::others_go_on(const Rank& rank) const {
  if (!ready_.empty()) return rank.enter;
  Time next = links_ ? links_->next() : Time::max();
  if (!events_.empty()) next = std::min(next, events_.top().time);
  if (!patience_.empty()) next = std::min(next, patience_.top().time);
  return next;
}

Time Engine::probe_fails_until(Rank& rank) {
  Found found;
  const bool waits = first_to_arrive(rank, rank.operation.comm, rank.operation.recv, found);
  return std::min(others_go_on(rank), waits ? found.header : Time::max());
}

// A probe that is known to have found a message: which one follows from its place among the
// receives.
bool Engine::start_known_probe(Rank& rank, Route& route) {
  const Operation& operation = rank.operation;
  rank.leave = rank.enter + call_cost(rank);
  if (!operation.recv.peer.valid()) return false;
  partner(rank, operation.recv.peer);
  route = {operation.comm, operation.recv.peer, rank.id, operation.recv.tag};
  ++rank.waiting_for;
  rank.recv_open = true;
  return true;
}

// It took the message.
void Engine::start_take(Rank& rank) {
  Route route;
  if (!start_known_probe(rank, route)) return;
  const PendingRecv recv{rank.enter, machine::RecvKind::posted, kTakes};
  if (const auto send = matcher_.receive(route, recv)) take(rank, route, *send);
}

void Engine::take(Rank& rank, const Route& route, const PendingSend& send) {
  racing(rank).held.push_back({rank.operation.request, route, send});
  see(rank, route, send);
}

// It left the message where it was. Receives that wait there were posted before, and get theirs
// first.
void Engine::start_see(Rank& rank) {
  Route route;
  if (!start_known_probe(rank, route)) return;
  const PendingRecv recv{rank.enter, machine::RecvKind::posted, kSees};
  if (const auto send = matcher_.first_message(route))
    see(rank, route, *send);
  else
    matcher_.receive(route, recv);
}

void Engine::see(Rank& rank, const Route& route, const PendingSend& send) {
  const Time there = network_->header(route.source, rank.id, send.stamp);
  rank.leave = machine::Timing::probe_leave(rank.enter, there, call_cost(rank));
  if (log_) log_probe(rank, route.source, send, there);
  rank.recv_open = false;
  half_done(rank);
}

}  // namespace foretrace::sim
