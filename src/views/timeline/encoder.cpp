#include "views/timeline/encoder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace foretrace::views {

using trace::Event;
using trace::EventKind;

// What came into a posted receive, and by which event it was known.
struct TimelineEncoder::Arrival {
  std::uint64_t event = 0;
  trace::Completion completion;
};

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

namespace {

void put_double(std::string& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift & 0xff);
}

}  // namespace

void TimelineEncoder::put_endpoint(TimelineShape& shape, std::size_t at, const trace::Endpoint& end,
                                   int rank) const {
  shape[at] = relative(end.peer, rank);
  if (!end.peer.valid()) return;
  shape[at + 1] = end.tag;
  shape[at + 2] = static_cast<std::int64_t>(end.bytes.count);
}

TimelineShape TimelineEncoder::shape_of(const Event& event, int rank,
                                        const Arrival* arrival) const {
  TimelineShape shape{};
  shape[0] = static_cast<std::int64_t>(event.kind);
  shape[1] = event.name;
  shape[3] = shape[6] = shape[10] = -1;
  shape[11] = event.count;
  if (with_places_) shape[12] = event.site;
  if (trace::leaves_message(event)) {
    // The message's end is the receive.
    shape[0] = static_cast<std::int64_t>(EventKind::call);
    return shape;
  }
  switch (event.kind) {
    case EventKind::send:
    case EventKind::isend:
      shape[2] = event.comm;
      put_endpoint(shape, 3, event.send, rank);
      break;
    case EventKind::recv:
    case EventKind::probe:
      shape[2] = event.comm;
      put_endpoint(shape, 6, event.recv, rank);
      break;
    case EventKind::irecv: {
      shape[2] = event.comm;
      trace::Endpoint came = event.recv;
      if (arrival != nullptr) {
        came.peer = arrival->completion.source;
        came.tag = arrival->completion.tag;
        came.bytes = arrival->completion.bytes;
      }
      put_endpoint(shape, 6, came, rank);
      break;
    }
    case EventKind::sendrecv:
      shape[2] = event.comm;
      put_endpoint(shape, 3, event.send, rank);
      put_endpoint(shape, 6, event.recv, rank);
      break;
    case EventKind::collective:
    case EventKind::icollective:
      shape[2] = event.comm;
      shape[9] = static_cast<std::int64_t>(event.bytes.count);
      shape[10] = event.root.value;
      break;
    default:
      break;
  }
  return shape;
}

void TimelineEncoder::put_time(Time time) {
  put_varint(stream_, static_cast<std::uint64_t>(time.count_ps()) / unit_);
}

void TimelineEncoder::put_event(const Event& event, std::uint64_t index, const Arrival* arrival,
                                std::uint64_t number, Time& now) {
  const bool waits = event.wait != Time();
  // MPI_Init and MPI_Finalize take no time: one is all at its end, the other
  // all at its start.
  const Time enter = event.kind == EventKind::init ? event.leave : event.enter;
  const Time leave = event.kind == EventKind::finalize ? event.enter : event.leave;
  put_varint(stream_, index * 2 + (waits ? 1 : 0));
  put_time(enter - now);
  put_time(leave - enter);
  if (waits) put_time(event.wait);
  if (event.kind == EventKind::irecv)
    put_varint(stream_,
               arrival != nullptr && arrival->event > number ? arrival->event - number : 0);
  if (event.kind == EventKind::mark) put_double(stream_, event.value);
  now = leave;
}

TimelineEncoder::Rank TimelineEncoder::add_rank(const std::vector<Event>& events, int rank,
                                                std::vector<Piece>* pieces,
                                                std::uint64_t piece_length) {
  // By the event that posted the receive. Programs may use the number of a request again once
  // it was completed.
  std::unordered_map<std::uint64_t, Arrival> came;
  std::unordered_map<std::uint64_t, std::uint64_t> open;
  for (std::uint64_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == EventKind::irecv) open[events[i].request] = i;
    for (const trace::Completion& done : events[i].completions)
      if (const auto posted = open.find(done.request); posted != open.end()) {
        came[posted->second] = {i, done};
        open.erase(posted);
      }
  }
  const std::size_t start = stream_.size();
  Rank told;
  for (const Event& event : events) {
    const std::uint64_t i = told.events;
    const Arrival* arrival = nullptr;
    if (event.kind == EventKind::irecv) {
      const auto found = came.find(i);
      if (found != came.end() && !found->second.completion.cancelled) arrival = &found->second;
    }
    const auto index =
        shapes_.emplace(shape_of(event, rank, arrival), shapes_.size()).first->second;
    if (pieces != nullptr && i % piece_length == 0)
      pieces->push_back({told.end, i, stream_.size()});
    put_event(event, index, arrival, i, told.end);
    ++told.events;
    if (event.kind == EventKind::finalize) break;
  }
  told.bytes = stream_.size() - start;
  return told;
}

std::uint64_t common_unit(const std::vector<std::vector<Event>>& ranks) {
  std::int64_t unit = 0;
  for (const auto& events : ranks)
    for (const Event& event : events) {
      for (const Time time : {event.enter, event.leave, event.wait})
        unit = std::gcd(unit, time.count_ps());
      if (unit == 1) return 1;
    }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, unit));
}

std::vector<TimelineShape> TimelineEncoder::shapes() const {
  std::vector<TimelineShape> list(shapes_.size());
  for (const auto& [shape, index] : shapes_) list[index] = shape;
  return list;
}

std::string TimelineEncoder::take_stream() {
  return std::exchange(stream_, {});
}

}  // namespace foretrace::views
