#include "sim/network/endpoints.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::sim {

using machine::SendMode;

EndpointNetwork::EndpointNetwork(const NetworkOptions& options, machine::Placement nodes)
    : loggps_(options.loggps), send_free_(nodes.size()) {
  inner_.fill(loggps_);
  for (const auto& [path, times] : options.inner) inner_[static_cast<std::size_t>(path)] = times;
  // LogGPS knows nothing of the data.
  inner_[static_cast<std::size_t>(machine::Path::untouched)] =
      inner_[static_cast<std::size_t>(machine::Path::node)];
  paths_ = machine::RankPaths(std::move(nodes));
}

bool EndpointNetwork::is_rendezvous(machine::Path path, SendMode mode, Bytes bytes) const {
  return machine::is_rendezvous(mode, bytes, on(path).sync_threshold);
}

SendTimes EndpointNetwork::begin_send(WorldRank from, WorldRank to, Time s0, SendMode, Bytes, bool,
                                      bool) {
  const machine::LogGPSTimes& times = on(path(from, to));
  const Time begin = start(from, s0, times.gap, Time());
  const Time sent = begin + times.overhead_send;
  return {begin, sent, sent, sent};
}

Time EndpointNetwork::asked(const Meeting& meeting) const {
  return meeting.stamp.sent + latency(meeting.from, meeting.to) +
         on(path(meeting.from, meeting.to)).overhead_recv;
}

Time EndpointNetwork::answered(const Meeting& meeting) const {
  return std::max(asked(meeting), meeting.entered) + latency(meeting.to, meeting.from) +
         on(path(meeting.from, meeting.to)).overhead_recv;
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
  return machine::wait_time(meeting.entered, asked(meeting));
}

Time EndpointNetwork::post_receive_leave(machine::Path, Time r0, Bytes) const {
  return r0;
}

Time EndpointNetwork::receive_leave(WorldRank, machine::Path path, Bytes, Time r0, Time other,
                                    Time arrival) {
  return std::max({r0, other, arrival}) + on(path).overhead_recv;
}

Time EndpointNetwork::receive_alone(machine::Path path, Time r0, Time other, Bytes) const {
  return std::max(r0, other) + on(path).overhead_recv;
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
    const Time overhead = on(request.path).overhead_recv;
    leave = std::max(leave, request.end) + overhead;
    minimum += overhead;
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
    if (!requests[i].is_send) rest += on(requests[i].path).overhead_recv;
    requests[i].rest = rest;
  }
  return rest;
}

Time EndpointNetwork::header(WorldRank from, WorldRank to,
                             const machine::MessageStamp& stamp) const {
  return stamp.sent + latency(from, to);
}

}  // namespace foretrace::sim
