#include "sim/network/endpoints.hpp"

#include <algorithm>

namespace foretrace::sim {

using machine::SendMode;

EndpointNetwork::EndpointNetwork(const machine::LogGPSTimes& loggps, int ranks)
    : loggps_(loggps), send_free_(static_cast<std::size_t>(ranks)) {}

bool EndpointNetwork::is_rendezvous(SendMode mode, Bytes bytes) const {
  return machine::is_rendezvous(mode, bytes, loggps_.sync_threshold);
}

SendTimes EndpointNetwork::begin_send(WorldRank from, WorldRank, Time s0, SendMode, Bytes, bool) {
  const Time begin = start(from, s0, Time());
  const Time sent = begin + loggps_.overhead_send;
  return {begin, sent, sent, sent};
}

Time EndpointNetwork::answered(const Meeting& meeting) const {
  const Time request = meeting.stamp.sent + latency(meeting.from, meeting.to);
  return std::max(request, meeting.entered) + latency(meeting.to, meeting.from);
}

Delivery EndpointNetwork::deliver(const Meeting& meeting) const {
  const Transit way = transit(meeting.from, meeting.to, meeting.stamp.bytes);
  Delivery delivery;
  Time enters = meeting.stamp.sent;
  if (meeting.stamp.rendezvous) {
    enters = data_enters(meeting);
    delivery.sender = enters + way.stream;
  }
  delivery.arrival = enters + way.latency + way.stream;
  return delivery;
}

Time EndpointNetwork::rendezvous_delay(const Meeting& meeting) const {
  const Time request = meeting.stamp.sent + latency(meeting.from, meeting.to);
  return machine::wait_time(meeting.entered, request);
}

Time EndpointNetwork::post_receive_leave(Time r0, Bytes) const {
  return r0;
}

Time EndpointNetwork::receive_leave(WorldRank, Time r0, Time other, Time arrival, Bytes) {
  return std::max({r0, other, arrival}) + loggps_.overhead_recv;
}

Time EndpointNetwork::receive_alone(Time r0, Time other, Bytes) const {
  return std::max(r0, other) + loggps_.overhead_recv;
}

Time EndpointNetwork::complete(WorldRank, Time w0, std::span<Finished> requests, Time& minimum) {
  // Sends first, then the receives as they arrived.
  Time leave = w0;
  std::size_t receives = 0;
  for (const Finished& request : requests) {
    if (request.is_send)
      leave = std::max(leave, request.end);
    else
      requests[receives++] = request;
  }
  const auto arrived = requests.first(receives);
  if (receives > 1)
    std::ranges::sort(arrived, [](const Finished& a, const Finished& b) {
      return a.end != b.end ? a.end < b.end : a.index < b.index;
    });
  for (const Finished& request : arrived) {
    leave = std::max(leave, request.end) + loggps_.overhead_recv;
    minimum += loggps_.overhead_recv;
  }
  return leave;
}

// In the order of complete(): sends, then the receives as they arrived.
Time EndpointNetwork::rest_after(std::span<Finished> requests) const {
  std::ranges::sort(requests, [](const Finished& a, const Finished& b) {
    if (a.is_send != b.is_send) return a.is_send;
    return a.end != b.end ? a.end < b.end : a.index < b.index;
  });
  Time rest;
  for (std::size_t i = requests.size(); i-- > 0;) {
    if (!requests[i].is_send) rest += loggps_.overhead_recv;
    requests[i].rest = rest;
  }
  return rest;
}

Time EndpointNetwork::header(WorldRank from, WorldRank to,
                             const machine::MessageStamp& stamp) const {
  return stamp.sent + latency(from, to);
}

}  // namespace foretrace::sim
