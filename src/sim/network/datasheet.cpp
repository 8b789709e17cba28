#include "sim/network/datasheet.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::sim {

using machine::RecvKind;
using machine::SendMode;

using machine::Path;
using machine::Timing;

DatasheetNetwork::DatasheetNetwork(const Timing& timing, machine::Placement placement)
    : timing_(&timing),
      paths_(std::move(placement)),
      has_gap_(timing.on(Path::node).has_gap() || timing.on(Path::outer).has_gap()) {}

machine::Port& DatasheetNetwork::port(WorldRank rank, Path path) {
  const auto at = static_cast<std::size_t>(rank.value);
  if (ports_.size() <= at) ports_.resize(at + 1);
  return timing_->port(ports_[at], path);
}

bool DatasheetNetwork::is_rendezvous(Path path, SendMode mode, Bytes bytes) const {
  return timing_->on(path).is_rendezvous(mode, bytes);
}

SendTimes DatasheetNetwork::begin_send(WorldRank from, WorldRank to, Time s0, SendMode mode,
                                       Bytes bytes, bool posted, bool untouched) {
  const Timing& timing = between(from, to, untouched);
  SendTimes times;
  times.sent = has_gap_ ? port(from, path(from, to)).depart(s0, timing.gap(bytes)) : s0;
  times.start = times.sent;
  if (posted) {
    times.leave = timing.isend_post_leave(s0, bytes);
    times.end = timing.isend_end(times.sent, times.sent, mode, bytes, false);
  } else if (!timing.is_rendezvous(mode, bytes)) {
    // What waits for its receiver is asked for in deliver(), by another function of the model.
    times.leave = timing.send_eager_leave(s0, mode, bytes);
  }
  return times;
}

Delivery DatasheetNetwork::deliver(const Meeting& meeting) const {
  const machine::MessageStamp& stamp = meeting.stamp;
  const Timing& timing = between(meeting.from, meeting.to, stamp.untouched);
  Delivery delivery;
  if (stamp.rendezvous)
    delivery.sender =
        meeting.posted_send
            ? timing.isend_end(stamp.sent, meeting.entered, meeting.mode, stamp.bytes, true)
            : timing.send_rendezvous_leave(stamp.sent, meeting.entered, stamp.bytes);
  switch (meeting.kind) {
    case RecvKind::blocking:
      delivery.arrival = timing.recv_leave(meeting.entered, stamp);
      break;
    case RecvKind::sendrecv:
      delivery.arrival = timing.sendrecv_recv_leave(meeting.entered, stamp);
      break;
    case RecvKind::posted:
      delivery.arrival = timing.irecv_end(meeting.entered, stamp);
      break;
  }
  return delivery;
}

Time DatasheetNetwork::rendezvous_delay(const Meeting& meeting) const {
  return Timing::rendezvous_delay(meeting.stamp.sent, meeting.entered);
}

Time DatasheetNetwork::post_receive_leave(Path path, Time r0, Bytes bytes) const {
  return timing_->on(path).irecv_post_leave(r0, bytes);
}

Time DatasheetNetwork::receive_leave(WorldRank rank, Path path, Bytes bytes, Time, Time other,
                                     Time arrival) {
  if (!has_gap_) return std::max(other, arrival);
  const Time takes = timing_->on(path).receiving_takes(bytes);
  return std::max(other, port(rank, path).move(arrival, takes));
}

Time DatasheetNetwork::receive_alone(Path path, Time r0, Time other, Bytes bytes) const {
  return timing_->on(path).recv_alone(r0, other, bytes);
}

Time DatasheetNetwork::complete(WorldRank rank, Time w0, std::span<Finished> requests,
                                Time& minimum) {
  machine::WaitsInTurn waits(w0);
  machine::Port idle;
  for (const Finished& request : requests) {
    const Timing& timing = timing_->on(request.path);
    machine::Port& own = has_gap_ ? port(rank, request.path) : idle;
    if (request.is_send)
      waits.complete_send(timing, own, request.end, request.bytes);
    else
      waits.complete_receive(timing, own, request.end, request.bytes);
  }
  minimum += waits.alone() - w0;
  return waits.leave();
}

Time DatasheetNetwork::rest_after(std::span<Finished> requests) const {
  Time rest;
  for (std::size_t i = requests.size(); i-- > 0;) {
    Finished& request = requests[i];
    request.rest = rest;
    const Timing& timing = timing_->on(request.path);
    rest += request.is_send ? timing.isend_complete_minimum(request.bytes)
                            : timing.irecv_complete_minimum(request.bytes);
  }
  return rest;
}

// Of Timing::irecv_end().
Time DatasheetNetwork::least_transfer() const {
  Time least = Time::max();
  for (const Path path : {Path::untouched, Path::node, Path::outer}) {
    const Timing& timing = timing_->on(path);
    least =
        std::min(least, timing.least(machine::Cost::irecv1) + timing.least(machine::Cost::irecv2));
  }
  return least;
}

std::optional<machine::AccessTimes> DatasheetNetwork::access(WorldRank from, WorldRank to,
                                                             machine::OneSided what, Time enter,
                                                             Bytes bytes) {
  const auto rank = static_cast<std::size_t>(from.value);
  if (access_ports_.size() <= rank) access_ports_.resize(rank + 1);
  return access_ports_[rank].begin(between(from, to), what, enter, bytes);
}

Time DatasheetNetwork::header(WorldRank, WorldRank, const machine::MessageStamp& stamp) const {
  return stamp.sent;
}

}  // namespace foretrace::sim
