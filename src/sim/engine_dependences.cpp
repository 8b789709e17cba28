// What the engine tells Dependences. What lies between two moments is asked of the
// network and of Timing, with the other moments so early that they do not matter.

#include <algorithm>

#include "sim/engine_impl.hpp"

namespace foretrace::sim {
namespace {

constexpr Time kLongAgo = Time::ps(-(std::int64_t{1} << 60));

bool matters(Time when) {
  return when > Time::ps(kLongAgo.count_ps() / 2);
}

}  // namespace

// The sender's own part; rendezvous: the message alone.
void Engine::log_send(const Rank& rank, const SendTimes& times, bool rendezvous, bool ends_later) {
  const Time queue = std::max(times.start - rank.enter, Time());
  log_->note_send(rank.id, times.sent - rank.enter - queue);
  Link own;
  own.from = log_->entered(rank.id);
  const bool posted = rank.operation.kind == trace::EventKind::isend;
  if (posted || !rendezvous) {
    own.takes = times.leave - rank.enter;
    own.overhead = own.takes - queue;
    log_->add(rank.id, own);
  }
  if (!posted || rendezvous || ends_later) return;
  own.takes = times.end - rank.enter;
  own.overhead = own.takes - queue;
  log_->end_request(rank.id, rank.operation.request, times.end, std::span(&own, 1));
}

void Engine::log_meeting(const Meeting& meeting, const Rank& sender, const PendingSend& send,
                         const Rank& receiver, const PendingRecv& recv, const Delivery& delivery) {
  Ends ends;
  ends.sent = log_->sent(sender.id, send.order);
  ends.receiver =
      recv.request != 0 ? log_->posted(receiver.id, recv.request) : log_->entered(receiver.id);
  // It was posted before, but its rank had to come back.
  if (recv.request != 0 && recv.entered > (*log_)[ends.receiver].at)
    ends.receiver = log_->entered(receiver.id);
  if (recv.kind != machine::RecvKind::posted) {
    Link there;
    there.from = ends.receiver;
    log_->add(receiver.id, there);
  }
  const bool rendezvous = meeting.stamp.rendezvous;
  const bool asks = rendezvous || options_.network.kind == NetworkKind::datasheet;
  Dependences::Flying ways = asks ? ways_of_parts(meeting, ends) : ways_of_eager(meeting, ends);
  if (send.flight != kNoFlight || (rendezvous && between_nodes(sender.id, receiver.id))) {
    if (rendezvous) {
      ways.data.beyond = beyond(meeting);
      ways.sender = ways.data;
      ways.sender.beyond.latency = Time();
    }
    return log_->meet(ways);
  }
  log_->arrive(ways.data, receiver.id, recv.request, delivery.arrival);
  if (rendezvous) log_->arrive(ways.sender, sender.id, send.request, delivery.sender);
}

// The call's own time, and the message that can be seen.
void Engine::log_probe(const Rank& rank, WorldRank sender, const PendingSend& send, Time there) {
  const Dependences::Sent sent = log_->sent(sender, send.order);
  Link link;
  link.from = log_->entered(rank.id);
  link.takes = link.overhead = rank.leave - std::max(rank.enter, there);
  log_->add(rank.id, link);
  link.kind = LinkKind::message;
  link.from = sent.enter;
  link.latency = there - send.stamp.sent;
  link.takes += there - (*log_)[sent.enter].at;
  log_->add(rank.id, link);
}

// By the network's own rules, for either end alone and for an empty message.
Dependences::Flying Engine::ways_of_parts(const Meeting& meeting, const Ends& ends) const {
  const auto ask = [&](bool of_sender, Bytes bytes) {
    Meeting question = meeting;
    question.stamp.bytes = bytes;
    (of_sender ? question.entered : question.stamp.sent) = kLongAgo;
    return network_->deliver(question);
  };
  const Bytes bytes = meeting.stamp.bytes;
  const Delivery by_sender = ask(true, bytes);
  const Delivery by_sender_empty = ask(true, Bytes(0));
  const Delivery by_receiver = ask(false, bytes);
  const Delivery by_receiver_empty = ask(false, Bytes(0));
  const auto add = [&](Dependences::Way& way, LinkKind kind, MomentId from, Time when, Time empty,
                       Time overhead) {
    way.at = std::max(way.at, when);
    if (!matters(when)) return;
    Link& link = way.links[way.count++];
    link.kind = kind;
    link.from = from;
    link.takes = when - (*log_)[from].at;
    link.overhead = overhead;
    link.bytes = std::max(when - empty, Time());
    link.latency = std::max(link.takes - overhead - link.bytes, Time());
  };
  Dependences::Flying ways;
  const MomentId sender = ends.sent.enter;
  const bool rendezvous = meeting.stamp.rendezvous;
  // The processors', of LogGPS: o_r for the request and for the answer, o_s for data that comes
  // to no port.
  Time request, answer;
  if (rendezvous && options_.network.kind != NetworkKind::datasheet) {
    request = network_->receive_overhead(network_->path(meeting.from, meeting.to));
    const bool at_port = ports_ && between_nodes(meeting.from, meeting.to);
    answer = request + (at_port ? Time() : ends.sent.overhead);
  }
  const Time asking = ends.sent.overhead + request + answer;
  add(ways.data, LinkKind::message, sender, by_sender.arrival, by_sender_empty.arrival, asking);
  add(ways.data, LinkKind::own, ends.receiver, by_receiver.arrival, by_receiver_empty.arrival,
      rendezvous ? answer : by_receiver.arrival - (*log_)[ends.receiver].at);
  if (!rendezvous) return ways;
  add(ways.sender, LinkKind::own, sender, by_sender.sender, by_sender_empty.sender, asking);
  add(ways.sender, LinkKind::answer, ends.receiver, by_receiver.sender, by_receiver_empty.sender,
      answer);
  return ways;
}

// An eager message of LogGPS waits for nobody but links and ports.
Dependences::Flying Engine::ways_of_eager(const Meeting& meeting, const Ends& ends) const {
  Dependences::Flying ways;
  ways.data.at = meeting.stamp.sent;
  ways.data.count = 1;
  Link& link = ways.data.links[0];
  link.kind = LinkKind::message;
  link.from = ends.sent.enter;
  link.takes = meeting.stamp.sent - (*log_)[ends.sent.enter].at;
  link.overhead = ends.sent.overhead;
  ways.data.beyond = beyond(meeting);
  ways.data.beyond.overhead = Time();
  return ways;
}

// What the data takes from where it enters the network, if it waits for nothing.
Link Engine::beyond(const Meeting& meeting) const {
  Link link;
  link.overhead =
      meeting.stamp.rendezvous && ports_ ? options_.network.loggps.overhead_send : Time();
  link.latency = network_->header(meeting.from, meeting.to, meeting.stamp) - meeting.stamp.sent;
  link.bytes = Time::max();
  if (ports_ && between_nodes(meeting.from, meeting.to))
    link.bytes = options_.network.loggps.stream(meeting.stamp.bytes);
  else if (links_ && between_nodes(meeting.from, meeting.to))
    link.bytes = std::max(
        network_->alone_on_links(meeting.from, meeting.to, meeting.stamp.bytes) - link.latency,
        Time());
  return link;
}

// Those of the requests that `finished_` holds are handled one after the other; the
// collectives only end.
void Engine::log_completion(Rank& rank, std::span<const trace::Completion> completed) {
  std::vector<MomentId> ends;
  for (const trace::Completion& completion : completed)
    ends.push_back(log_->take_request(rank.id, completion.request));
  std::vector<Finished> handled = finished_;
  Link own;
  own.from = log_->entered(rank.id);
  own.takes = network_->rest_after(handled);
  own.overhead = own.takes;
  log_->add(rank.id, own);
  const auto after = [&](MomentId end, Time rest) {
    if (end == kNoMoment) return;
    Link link;
    link.kind = LinkKind::request;
    link.from = end;
    link.takes = rest;
    link.overhead = rest;
    log_->add(rank.id, link);
  };
  for (const Finished& request : handled)
    after(std::exchange(ends[request.index], kNoMoment), request.rest);
  for (const MomentId end : ends) after(end, Time());
}

Engine::AccessParts Engine::parts_of_equation(const Access& access, Bytes bytes) const {
  const machine::Timing& timing = timing_.on(network_->path(access.origin, access.target));
  AccessParts parts;
  parts.latency = timing.access_time(access.what, Bytes(0));
  parts.bytes = std::max(timing.access_time(access.what, bytes) - parts.latency, Time());
  return parts;
}

Engine::AccessParts Engine::parts_of_messages(const Access& access, Bytes there, Bytes back) const {
  AccessParts parts;
  const auto add = [&](WorldRank from, WorldRank to, Bytes bytes) {
    Meeting leg;
    leg.from = from;
    leg.to = to;
    leg.stamp.bytes = bytes;
    const Link alone = beyond(leg);
    parts.latency += alone.latency;
    parts.bytes =
        std::max(parts.bytes, alone.bytes) == Time::max() ? Time::max() : parts.bytes + alone.bytes;
  };
  add(access.origin, access.target, there);
  add(access.target, access.origin, back);
  parts.overhead = network_->send_overhead(network_->path(access.origin, access.target));
  // The target's network interface takes as long to answer.
  parts.latency += parts.overhead;
  return parts;
}

void Engine::log_access(const Rank& rank, Time alone, const AccessParts& parts) {
  Link own;
  own.from = log_->entered(rank.id);
  own.takes = rank.leave - rank.enter;
  own.overhead = alone - rank.enter;
  own.latency = parts.latency;
  own.bytes = parts.bytes;
  log_->add(rank.id, own);
}

void Engine::log_access_end(const Access& access, Time when) {
  Link own;
  own.from = log_->posted(access.origin, access.request);
  own.takes = when - (*log_)[own.from].at;
  own.overhead = access.parts.overhead;
  own.latency = access.parts.latency;
  own.bytes = access.parts.bytes;
  log_->end_request(access.origin, access.request, when, std::span(&own, 1));
}

// A lock: one gives it back, for which the other has waited alone.
void Engine::log_grant(const Rank& from, const Rank& to) {
  Link own;
  own.from = log_->entered(to.id);
  own.takes = own.overhead = to.arrival - to.enter;
  log_->add(to.id, own);
  Link given;
  given.from = log_->entered(from.id);
  given.kind = LinkKind::gather;
  log_->add(to.id, given);
}

void Engine::log_join(const Rank& rank) {
  const Operation& operation = rank.operation;
  const auto& members = source_.comm(operation.comm).members;
  const LocalRank root = operation.root;
  log_->join(operation.comm, members.size(), machine::dependence_of(operation.collective),
             root.valid() ? members[static_cast<std::size_t>(root.value)] : WorldRank(), rank.id,
             operation.kind == trace::EventKind::icollective ? operation.request : 0);
}

void Engine::log_release(const Release& release, trace::CommId comm, Time end, Time empty) {
  Link cost;
  cost.takes = end - release.latest;
  cost.bytes = std::clamp(end - empty, Time(), cost.takes);
  cost.latency = cost.takes - cost.bytes;
  log_->release(comm, release.rank, release.request, cost, end);
}

}  // namespace foretrace::sim
