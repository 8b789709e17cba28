#include "sim/network/datasheet.hpp"

#include <algorithm>

namespace foretrace::sim {

using machine::RecvKind;
using machine::SendMode;

DatasheetNetwork::DatasheetNetwork(const machine::Timing& timing) : timing_(&timing) {}

bool DatasheetNetwork::is_rendezvous(SendMode mode, Bytes bytes) const {
  return timing_->is_rendezvous(mode, bytes);
}

SendTimes DatasheetNetwork::begin_send(WorldRank, WorldRank, Time s0, SendMode mode, Bytes bytes,
                                       bool posted) {
  SendTimes times;
  times.sent = s0;
  if (posted) {
    times.leave = timing_->isend_post_leave(s0, bytes);
    times.end = timing_->isend_end(s0, s0, mode, bytes, false);
  } else {
    times.leave = timing_->send_eager_leave(s0, mode, bytes);
  }
  return times;
}

Delivery DatasheetNetwork::deliver(const Meeting& meeting) const {
  const machine::MessageStamp& stamp = meeting.stamp;
  Delivery delivery;
  if (stamp.rendezvous)
    delivery.sender =
        meeting.posted_send
            ? timing_->isend_end(stamp.sent, meeting.entered, meeting.mode, stamp.bytes, true)
            : timing_->send_rendezvous_leave(stamp.sent, meeting.entered, stamp.bytes);
  switch (meeting.kind) {
    case RecvKind::blocking:
      delivery.arrival = timing_->recv_leave(meeting.entered, stamp);
      break;
    case RecvKind::sendrecv:
      delivery.arrival = timing_->sendrecv_recv_leave(meeting.entered, stamp);
      break;
    case RecvKind::posted:
      delivery.arrival = timing_->irecv_end(meeting.entered, stamp);
      break;
  }
  return delivery;
}

Time DatasheetNetwork::rendezvous_delay(const Meeting& meeting) const {
  return machine::Timing::rendezvous_delay(meeting.stamp.sent, meeting.entered);
}

Time DatasheetNetwork::post_receive_leave(Time r0, Bytes bytes) const {
  return timing_->irecv_post_leave(r0, bytes);
}

Time DatasheetNetwork::receive_leave(WorldRank, Time, Time other, Time arrival, Bytes) {
  return std::max(other, arrival);
}

Time DatasheetNetwork::receive_alone(Time r0, Time other, Bytes bytes) const {
  return timing_->recv_alone(r0, other, bytes);
}

Time DatasheetNetwork::complete(WorldRank, Time w0, std::span<Finished> requests, Time& minimum) {
  machine::WaitsInTurn waits(w0);
  for (const Finished& request : requests) {
    if (request.is_send)
      waits.complete_send(*timing_, request.end, request.bytes);
    else
      waits.complete_receive(*timing_, request.end, request.bytes);
  }
  minimum += waits.alone() - w0;
  return waits.leave();
}

Time DatasheetNetwork::rest_after(std::span<Finished> requests) const {
  Time rest;
  for (std::size_t i = requests.size(); i-- > 0;) {
    Finished& request = requests[i];
    request.rest = rest;
    rest += request.is_send ? timing_->isend_complete_minimum(request.bytes)
                            : timing_->irecv_complete_minimum(request.bytes);
  }
  return rest;
}

// Of Timing::irecv_end().
Time DatasheetNetwork::least_transfer() const {
  return timing_->least(machine::Cost::irecv1) + timing_->least(machine::Cost::irecv2);
}

Time DatasheetNetwork::header(WorldRank, WorldRank, const machine::MessageStamp& stamp) const {
  return stamp.sent;
}

}  // namespace foretrace::sim
