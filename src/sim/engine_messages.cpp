#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using machine::RecvKind;
using machine::SendMode;

void Engine::start_send(Rank& rank) {
  const trace::Endpoint& to = rank.operation.send;
  if (!to.peer.valid()) return;
  if (rank.operation.silent) {
    // No receive, and no look, may find it before it could have come.
    SendTimes times;
    times.sent = now_ + least_transfer_;
    return connect_send(rank, times, false, 0);
  }
  const SendMode mode = rank.operation.mode;
  const bool rendezvous = network_->is_rendezvous(path_of(rank, to), mode, to.bytes);
  const SendTimes times =
      network_->begin_send(rank.id, to.peer, rank.enter, mode, to.bytes, false, to.untouched);
  if (rendezvous) {
    ++rank.waiting_for;
    rank.send_open = true;
  } else {
    rank.leave = times.leave;
  }
  if (log_) log_send(rank, times, rendezvous, false);
  std::uint64_t stalled = 0;
  if (!rendezvous && is_attended(rank, to, mode)) {
    ++rank.waiting_for;
    rank.send_open = true;
    stalled = end_when_attended(rank, 0, times);
  }
  connect_send(rank, times, rendezvous, 0, stalled);
}

void Engine::start_recv(Rank& rank, RecvKind kind) {
  const trace::Endpoint& from = rank.operation.recv;
  if (rank.operation.taken != 0) return receive_taken(rank, kind, 0);
  if (is_open(from)) {
    if (!races_) fail(rank, "a wildcard receive whose message is not known; run the program live");
  } else if (!from.peer.valid()) {
    return;
  }
  ++rank.waiting_for;
  rank.recv_open = true;
  connect_recv(rank, kind, 0);
}

void Engine::start_isend(Rank& rank) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  Request* request = rank.requests.insert(operation.request);
  if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
  request->is_send = true;
  request->peer = to.peer;
  request->tag = to.tag;
  request->untouched = to.untouched;
  request->comm = operation.comm;
  request->empty = !to.peer.valid() || !operation.matched;
  request->done = request->empty;
  if (!to.peer.valid()) return;
  const SendTimes times = network_->begin_send(rank.id, to.peer, rank.enter, operation.mode,
                                               to.bytes, true, to.untouched);
  rank.leave = times.leave;
  if (request->empty) return;
  if (log_) log_->post(rank.id, operation.request);
  const bool rendezvous = network_->is_rendezvous(path_of(rank, to), operation.mode, to.bytes);
  request->needs_buffer = rendezvous && operation.mode != SendMode::synchronous;
  const bool attended = !rendezvous && is_attended(rank, to, operation.mode);
  if (log_) log_send(rank, times, rendezvous, attended);
  std::uint64_t stalled = 0;
  if (attended) {
    request->payload = stalled = end_when_attended(rank, operation.request, times);
  } else if (!rendezvous) {
    request->done = true;
    request->bytes = to.bytes;
    request->end = times.end;
  }
  connect_send(rank, times, rendezvous, operation.request, stalled);
}

// The program says by its call from whom, or does not.
Time Engine::post_receive_leave(const Rank& rank) const {
  const trace::Endpoint& from = rank.operation.recv;
  const WorldRank named = from.any_source ? WorldRank() : from.peer;
  return network_->post_receive_leave(network_->path(rank.id, named), rank.enter, from.bytes);
}

void Engine::start_irecv(Rank& rank) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& from = operation.recv;
  Request* request = rank.requests.insert(operation.request);
  if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
  if (log_) log_->post(rank.id, operation.request);
  request->bytes = from.bytes;
  note_pieces(rank, *request);
  if (operation.taken != 0) {
    rank.leave = post_receive_leave(rank);
    return receive_taken(rank, RecvKind::posted, operation.request);
  }
  const bool open = races_ && operation.matched && is_open(from);
  request->peer = from.peer;
  request->tag = from.tag;
  request->comm = operation.comm;
  request->empty = !open && (!from.peer.valid() || !operation.matched);
  request->done = request->empty;
  if (from.peer.valid() || from.any_source) rank.leave = post_receive_leave(rank);
  if (!request->empty) connect_recv(rank, RecvKind::posted, operation.request);
}

// All ranks do.
bool Engine::share_a_node() const {
  for (std::int32_t rank = 1; rank < source_.ranks(); ++rank)
    if (network_->path(WorldRank(0), WorldRank(rank)) != machine::Path::node) return false;
  return true;
}

bool Engine::between_nodes(WorldRank from, WorldRank to) const {
  return (links_ || ports_) && network_->node_of(from) != network_->node_of(to);
}

void Engine::connect_send(Rank& rank, const SendTimes& times, bool rendezvous,
                          std::uint64_t request, std::uint64_t stalled) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  Rank& receiver = partner(rank, to.peer);
  if (!operation.silent) {
    ++stats_.messages;
    if (options_.messages) options_.messages->add(rank.id, to.peer, to.bytes);
  }
  PendingSend send{{times.sent, to.bytes, rendezvous, to.untouched},
                   operation.mode,
                   request,
                   rank.sends++,
                   kNoFlight,
                   operation.payload,
                   Time(),
                   stalled,
                   operation.silent};
  if (!operation.silent && between_nodes(rank.id, to.peer)) {
    const bool passes = ports_ && times.start == rank.enter;
    const Time through =
        passes ? network_->pass_port(to.peer, times.start, rendezvous ? Bytes(0) : to.bytes)
               : Time();
    if (passes && !rendezvous) {
      send.through = through;
    } else {
      Flight flight;
      flight.from = rank.id;
      flight.to = to.peer;
      flight.bytes = to.bytes;
      flight.order = send.order;
      flight.mode = operation.mode;
      flight.rendezvous = rendezvous;
      flight.part = rendezvous ? Part::request : Part::data;
      flight.send_request = request;
      send.flight = flights_.take(flight);
      if (passes)
        arrived(send.flight, through);
      else
        enter_at(send.flight, ports_ ? times.start : times.sent);
    }
  }
  const Route route{operation.comm, rank.id, to.peer, to.tag};
  if (receiver.awaits) {
    // It is in a receive before which nothing waited on its route.
    const Operation& awaited = receiver.operation;
    if (awaited.recv.peer == rank.id && awaited.recv.tag == to.tag &&
        awaited.comm == operation.comm) {
      receiver.awaits = false;
      return meet(rank, send, to.tag, receiver, {receiver.enter, receiver.awaited_kind, 0});
    }
  }
  auto recv = matcher_.send(route, send);
  if (recv && recv->request == kSees) {
    see(receiver, route, send);
    recv = matcher_.send(route, send);
  }
  if (recv && recv->request != kTakes) return meet(rank, send, to.tag, receiver, *recv);
  if (!rendezvous) ++rank.unreceived;
  if (recv) return take(receiver, route, send);
  if (receiver.racing) note_arrival(receiver, route, send, rank.enter);
}

void Engine::connect_recv(Rank& rank, RecvKind kind, std::uint64_t request) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& from = operation.recv;
  // A receive must not overtake open ones that were posted before it; those of
  // a collective never meet them.
  if (races_ &&
      (is_open(from) || (rank.has_open_receives() && !(operation.comm & kCollectiveComm))))
    return open_receive(rank, kind, request);
  Rank& sender = partner(rank, from.peer);
  const PendingRecv recv{rank.enter, kind, request};
  const Route route{operation.comm, from.peer, rank.id, from.tag};
  if (request == 0 && matcher_.is_empty(route)) {
    rank.awaits = true;
    rank.awaited_kind = kind;
    return;
  }
  const auto send = matcher_.receive(route, recv);
  if (!send) return;
  if (!send->stamp.rendezvous) --sender.unreceived;
  meet(sender, *send, from.tag, rank, recv);
}

// Both ends of a message are known: so are both ends' times, unless links that
// others use lie between.
void Engine::meet(Rank& sender, const PendingSend& send, std::int32_t tag, Rank& receiver,
                  const PendingRecv& recv, bool attended) {
  const machine::MessageStamp& stamp = send.stamp;
  Meeting meeting;
  meeting.from = sender.id;
  meeting.to = receiver.id;
  meeting.stamp = stamp;
  meeting.mode = send.mode;
  meeting.posted_send = send.request != 0;
  meeting.entered = recv.entered;
  meeting.kind = recv.kind;
  meeting.through = send.through;
  const bool flies = send.flight != kNoFlight;
  if (send.stalled != 0) meet_stalled(send.stalled, receiver, recv);
  if (in_calls_ && !flies && !attended && meet_when_attended(meeting, send, tag, recv)) return;
  Delivery delivery;
  if (send.silent)
    delivery.arrival = stamp.sent;
  else if (!flies)
    delivery = network_->deliver(meeting);
  if (stamp.rendezvous && !flies && send.request == 0)
    sender.send_delay = network_->rendezvous_delay(meeting);
  if (log_ && !send.silent && !(send.request & kPartRequest))
    log_meeting(meeting, sender, send, receiver, recv, delivery);
  trace::Endpoint message;
  message.peer = sender.id;
  message.tag = tag;
  message.bytes = stamp.bytes;
  message.untouched = stamp.untouched;
  if (flies) {
    Flight& flight = flights_[send.flight];
    flight.met = true;
    flight.receive = recv;
    flight.label = message;
    flight.payload = send.payload;
    if (log_ && !(send.request & kPartRequest)) log_->launch(send.flight);
    if (!flight.arrived) return;
    return flight.part == Part::request ? answer(send.flight) : land(send.flight);
  }
  if (stamp.rendezvous) sender_done(sender, send.request, delivery.sender, stamp.bytes);
  receiver_done(receiver, recv, delivery.arrival, message, send.payload);
}

void Engine::sender_done(Rank& sender, std::uint64_t request, Time when, Bytes bytes) {
  if (request != 0) {
    trace::Endpoint none;
    none.bytes = bytes;
    return request_done(sender, request, when, none, 0);
  }
  sender.send_open = false;
  sender.leave = std::max(sender.leave, when);
  half_done(sender);
}

void Engine::receiver_done(Rank& receiver, const PendingRecv& recv, Time arrival,
                           const trace::Endpoint& message, std::uint64_t payload) {
  if (recv.kind == RecvKind::posted)
    return request_done(receiver, recv.request, arrival, message, payload);
  receiver.recv_open = false;
  receiver.received = true;
  receiver.arrival = arrival;
  receiver.message = message;
  receiver.payload = payload;
  half_done(receiver);
}

// Until it is done, a receive's request has the size of what it has room for.
void Engine::check_room(const Rank& rank, const Request& request, const trace::Endpoint& message) {
  if (message.bytes <= request.bytes || (request.comm & kCollectiveComm)) return;
  ++long_messages_;
  const LongMessage found{{message.peer, rank.id, request.comm, message.tag, message.bytes},
                          request.bytes};
  const auto place = [](const LeftMessage& at) {
    return std::tuple(at.destination.value, at.source.value, at.tag, at.bytes.count);
  };
  if (!long_message_ || place(found.message) < place(long_message_->message)) long_message_ = found;
}

void Engine::request_done(Rank& rank, std::uint64_t serial, Time end,
                          const trace::Endpoint& message, std::uint64_t payload) {
  if (serial & kDetachedRequest) return;
  if (serial & kPartRequest) return part_done(serial, end, message.bytes);
  Request& request = *rank.requests.find(serial);
  if (request.detached) return rank.requests.erase(serial);
  if (!request.is_send && !request.is_collective) check_room(rank, request, message);
  request.end = end;
  request.bytes = message.bytes;
  request.payload = payload;
  request.done = true;
  if (!request.is_send) {
    request.peer = message.peer;
    request.tag = message.tag;
    request.untouched = message.untouched;
  }
  if (!request.awaited) return;
  if (rank.any)
    wake_at(rank, end);
  else
    half_done(rank);
}

// It will enter the shared links, or come to a port.
void Engine::enter_at(MessageId message, Time when, EventClass what) {
  const Flight& flight = flights_[message];
  if (when > kEndOfTime) too_late(rank_of(flight.from));
  events_.push({when, what, flight.from.value, flight.order, message});
}

Way Engine::way_of(WorldRank from, WorldRank to, bool in_pieces) const {
  return {network_->node_of(from), network_->node_of(to),
          static_cast<std::uint64_t>(from.value) << 32 | static_cast<std::uint32_t>(to.value),
          in_pieces};
}

void Engine::enter_links(const Event& event) {
  if (ports_) return pass_ports(event);
  Flight& flight = flights_[event.payload];
  const bool asks = flight.part == Part::request;
  const Way way = way_of(flight.from, flight.to, flight.rendezvous && !asks);
  if (asks) return links_->inject(event.payload, way, Bytes(0), event.time);
  const Time overhead = options_.network.loggps.overhead_send;
  if (flight.part == Part::handing) {
    flight.part = Part::data;
    const Time until = event.time + overhead;
    handing_until_[static_cast<std::size_t>(flight.from.value)] = until;
    if (overhead > Time()) return enter_at(event.payload, until);
  }
  links_->inject(event.payload, way, flight.bytes, event.time);
}

// The receiver has the request of a rendezvous, and a receive for it.
void Engine::answer(MessageId message, bool attended) {
  if (in_calls_ && !attended && answer_when_attended(message)) return;
  Flight& flight = flights_[message];
  if (flight.send_request == 0)
    rank_of(flight.from).send_delay = machine::wait_time(flight.receive.entered, flight.arrival);
  flight.part = Part::answer;
  flight.arrived = false;
  enter_at(message, std::max(flight.arrival, flight.receive.entered), EventClass::answer);
}

void Engine::send_answer(const Event& event) {
  Flight& flight = flights_[event.payload];
  if (ports_) return arrived(event.payload, network_->send_answer(flight.to, event.time));
  // Behind data that the rank has begun to hand over.
  const Time free = handing_until_[static_cast<std::size_t>(flight.to.value)];
  if (free > event.time && !flight.waited) {
    flight.waited = true;
    return enter_at(event.payload, free, EventClass::answer);
  }
  links_->inject(event.payload, way_of(flight.to, flight.from), Bytes(0), event.time);
}

// The data of a rendezvous comes to its sender's port, or a message has it that
// found it taken.
void Engine::pass_ports(const Event& event) {
  Flight& flight = flights_[event.payload];
  if (flight.part == Part::request)
    return arrived(event.payload, network_->pass_port(flight.to, event.time, Bytes(0)));
  const bool returns = flight.access != kNoAccess && accesses_[flight.access].returns;
  if ((flight.rendezvous || returns) && !flight.left) {
    const DataTimes data = network_->start_data(flight.from, event.time, flight.bytes);
    leave_source(event.payload, data.sent);
    flight.left = true;
    if (data.start > event.time) {
      Event later = event;
      later.time = data.start;
      return events_.push(later);
    }
  }
  arrived(event.payload, network_->pass_port(flight.to, event.time, flight.bytes));
}

void Engine::advance_links() {
  arrivals_.clear();
  links_->advance(arrivals_);
  for (const Departure& departure : links_->departures())
    leave_source(departure.message, departure.sent);
  for (const Arrival& arrival : arrivals_) {
    leave_source(arrival.message, arrival.sent);
    arrived(arrival.message, arrival.arrived);
  }
}

// It is known when the message, or its request or answer, is there.
void Engine::arrived(MessageId message, Time when) {
  Flight& flight = flights_[message];
  if (flight.access != kNoAccess) return access_arrived(message, when);
  if (flight.part != Part::data) when += options_.network.loggps.overhead_recv;  // taken in
  if (flight.part == Part::answer) {
    flight.part = ports_ ? Part::data : Part::handing;
    return enter_at(message, when);
  }
  flight.arrived = true;
  flight.arrival = when;
  if (flight.met)
    flight.part == Part::request ? answer(message) : land(message);
  else if (flight.withdrawn)
    flights_.give_back(message);
}

// The sender of a rendezvous has its buffer back.
void Engine::leave_source(MessageId message, Time sent) {
  Flight& flight = flights_[message];
  if (!flight.rendezvous || flight.part != Part::data || flight.left) return;
  flight.left = true;
  if (log_ && !(flight.send_request & kPartRequest))
    log_->arrive(log_->flying(message).sender, flight.from, flight.send_request, sent);
  sender_done(rank_of(flight.from), flight.send_request, sent, flight.bytes);
}

// The message is there and somebody takes it.
void Engine::land(std::uint32_t number) {
  const Flight flight = flights_[number];
  flights_.give_back(number);
  if (log_ && !(flight.receive.request & kPartRequest))
    log_->arrive(log_->flying(number).data, flight.to, flight.receive.request, flight.arrival);
  receiver_done(rank_of(flight.to), flight.receive, flight.arrival, flight.label, flight.payload);
}

}  // namespace foretrace::sim
