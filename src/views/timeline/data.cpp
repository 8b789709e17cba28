#include "views/timeline/data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/profile.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/notes.hpp"

namespace foretrace::views {
namespace {

using json = nlohmann::ordered_json;
using trace::Event;
using trace::EventKind;

using Shape = std::array<std::int64_t, 13>;

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void put_double(std::string& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift & 0xff);
}

// What came into a posted receive, and by which event it was known.
struct Arrival {
  std::size_t event = 0;
  trace::Completion completion;
};

// By the event that posted the receive. Programs may use the number of a request again once it
// was completed.
std::unordered_map<std::size_t, Arrival> arrivals(const std::vector<Event>& events) {
  std::unordered_map<std::size_t, Arrival> by_event;
  std::unordered_map<std::uint64_t, std::size_t> open;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == EventKind::irecv) open[events[i].request] = i;
    for (const trace::Completion& done : events[i].completions)
      if (const auto posted = open.find(done.request); posted != open.end()) {
        by_event[posted->second] = {i, done};
        open.erase(posted);
      }
  }
  return by_event;
}

class Encoder {
 public:
  Encoder(int ranks, bool with_places) : ranks_(ranks), with_places_(with_places) {}

  void add_rank(const std::vector<Event>& events, int rank);

  json shapes() const {
    std::vector<json> list(shapes_.size());
    for (const auto& [shape, index] : shapes_) list[index] = shape;
    return list;
  }
  json ranks() const { return rank_list_; }
  std::string take_stream() { return std::move(stream_); }

 private:
  std::int64_t relative(WorldRank peer, int rank) const {
    if (!peer.valid()) return -1;
    return (peer.value - rank + ranks_) % ranks_;
  }
  void put_endpoint(Shape& shape, std::size_t at, const trace::Endpoint& end, int rank) const {
    shape[at] = relative(end.peer, rank);
    if (!end.peer.valid()) return;
    shape[at + 1] = end.tag;
    shape[at + 2] = static_cast<std::int64_t>(end.bytes.count);
  }
  Shape shape_of(const Event& event, int rank, const Arrival* arrival) const;

  int ranks_;
  bool with_places_;
  std::map<Shape, std::size_t> shapes_;
  json rank_list_ = json::array();
  std::string stream_;
};

Shape Encoder::shape_of(const Event& event, int rank, const Arrival* arrival) const {
  Shape shape{};
  shape[0] = static_cast<std::int64_t>(event.kind);
  shape[1] = event.name;
  shape[3] = shape[6] = shape[10] = -1;
  shape[11] = event.count;
  if (with_places_) shape[12] = event.site;
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

void Encoder::add_rank(const std::vector<Event>& events, int rank) {
  const auto came = arrivals(events);
  const std::size_t start = stream_.size();
  std::size_t count = 0;
  Time now;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const Arrival* arrival = nullptr;
    if (event.kind == EventKind::irecv) {
      const auto found = came.find(i);
      if (found != came.end() && !found->second.completion.cancelled) arrival = &found->second;
    }
    const auto index =
        shapes_.emplace(shape_of(event, rank, arrival), shapes_.size()).first->second;
    const bool waits = event.wait != Time();
    // MPI_Init and MPI_Finalize take no time: one is all at its end, the other
    // all at its start.
    const Time enter = event.kind == EventKind::init ? event.leave : event.enter;
    const Time leave = event.kind == EventKind::finalize ? event.enter : event.leave;
    put_varint(stream_, index * 2 + (waits ? 1 : 0));
    put_varint(stream_, static_cast<std::uint64_t>((enter - now).count_ps()));
    put_varint(stream_, static_cast<std::uint64_t>((leave - enter).count_ps()));
    if (waits) put_varint(stream_, static_cast<std::uint64_t>(event.wait.count_ps()));
    if (event.kind == EventKind::irecv)
      put_varint(stream_, arrival != nullptr && arrival->event > i ? arrival->event - i : 0);
    if (event.kind == EventKind::mark) put_double(stream_, event.value);
    now = leave;
    ++count;
    if (event.kind == EventKind::finalize) break;
  }
  rank_list_.push_back({count, stream_.size() - start, now.count_ps()});
}

// [first, stride, count] each: what communicators of rows and columns are made of.
json member_spans(const std::vector<WorldRank>& members) {
  json spans = json::array();
  for (std::size_t i = 0; i < members.size();) {
    const int first = members[i].value;
    const int stride = i + 1 < members.size() ? members[i + 1].value - first : 1;
    std::size_t count = 1;
    while (i + count < members.size() &&
           members[i + count].value - members[i + count - 1].value == stride)
      ++count;
    spans.push_back({first, stride, count});
    i += count;
  }
  return spans;
}

json comm_list(const trace::Trace& trace) {
  json list = json::array();
  for (const trace::Communicator& comm : trace.comms) {
    const std::string name = comm.key == 0 ? "MPI_COMM_WORLD" : "";
    json entry = {{"name", name}, {"size", comm.members.size()}};
    if (comm.key != 0) entry["members"] = member_spans(comm.members);
    list.push_back(std::move(entry));
  }
  return list;
}

// By call site.
json place_list(const trace::Trace& trace, const trace::TellPlace& tell) {
  json list = json::array();
  if (tell)
    for (const trace::Site& site : trace.sites) list.push_back(tell(site));
  return list;
}

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json summary(const analysis::Profile& profile) {
  return {{"time", profile.time.count_ps()},
          {"serial", profile.serial_time.count_ps()},
          {"speedup", or_null(profile.speedup)},
          {"efficiency", or_null(profile.efficiency)}};
}

}  // namespace

TimelineData encode_timeline(const trace::Trace& trace, const trace::TellPlace& tell,
                             const RunNetwork* network) {
  Encoder encoder(static_cast<int>(trace.ranks.size()), tell != nullptr);
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank)
    encoder.add_rank(trace.ranks[rank], static_cast<int>(rank));

  json head = {{"version", 1},
               {"program", trace.info.program},
               {"trace", describe_trace(trace.info)},
               {"clock", clock_name(trace.info.clock)},
               {"notes", trace_note_list(trace.info, trace.sealed, trace.damage)},
               {"summary", summary(analysis::profile_trace(trace))},
               {"names", trace.names},
               {"comms", comm_list(trace)},
               {"places", place_list(trace, tell)},
               {"shapes", encoder.shapes()},
               {"ranks", encoder.ranks()}};
  if (network) head["network"] = json::parse(network_json(*network, trace));
  return {escape_script(head.dump(-1, ' ', false, json::error_handler_t::replace)),
          encoder.take_stream()};
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace foretrace::views
