#include "samples.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/whole_file.hpp"

namespace foretrace::trace {
namespace {

constexpr std::int32_t kMostTag = INT32_MAX;
constexpr std::int32_t kLeastTag = INT32_MIN;
constexpr Bytes kMostBytes{UINT64_MAX};

Endpoint end(int peer, std::int32_t tag, Bytes bytes) {
  Endpoint endpoint;
  endpoint.peer = WorldRank(peer);
  endpoint.tag = tag;
  endpoint.bytes = bytes;
  return endpoint;
}

Event of_kind(EventKind kind) {
  Event event;
  event.kind = kind;
  return event;
}

Event send(EventKind kind, Endpoint to, machine::SendMode mode, std::uint64_t request = 0) {
  Event event = of_kind(kind);
  event.send = to;
  event.mode = mode;
  event.request = request;
  return event;
}

Event recv(EventKind kind, Endpoint from, bool any_source, bool any_tag,
           std::uint64_t request = 0) {
  Event event = of_kind(kind);
  event.recv = from;
  event.recv.any_source = any_source;
  event.recv.any_tag = any_tag;
  event.request = request;
  return event;
}

Event collective(machine::Cost cost, Bytes bytes, LocalRank root) {
  Event event = of_kind(EventKind::collective);
  event.collective = cost;
  event.bytes = bytes;
  event.root = root;
  return event;
}

void add_messages(std::vector<Event>& events, int last) {
  using machine::SendMode;
  events.push_back(send(EventKind::send, end(1, 5, Bytes(800)), SendMode::standard));
  events.push_back(send(EventKind::send, end(last, kMostTag, kMostBytes), SendMode::synchronous));
  events.push_back(send(EventKind::send, end(0, kLeastTag, Bytes(0)), SendMode::buffered));
  events.push_back(send(EventKind::send, Endpoint(), SendMode::ready));
  events.push_back(recv(EventKind::recv, end(0, -1, Bytes(127)), false, false));
  events.push_back(recv(EventKind::recv, end(last, kMostTag, kMostBytes), true, false));
  events.push_back(recv(EventKind::recv, end(last, kLeastTag, Bytes(128)), false, true));
  events.push_back(recv(EventKind::recv, Endpoint(), true, true));
  Event both = send(EventKind::sendrecv, end(last, kLeastTag, kMostBytes), SendMode::standard);
  both.recv = recv(EventKind::recv, end(0, kMostTag, kMostBytes), true, true).recv;
  events.push_back(both);
  events.push_back(of_kind(EventKind::sendrecv));
  events.push_back(send(EventKind::isend, end(1, 1, Bytes(1)), SendMode::ready, 1));
  events.push_back(
      send(EventKind::isend, end(last, kMostTag, kMostBytes), SendMode::synchronous, UINT64_MAX));
  events.push_back(recv(EventKind::irecv, end(0, 0, Bytes(1u << 14)), false, false, 2));
  events.push_back(recv(EventKind::irecv, Endpoint(), true, true, UINT64_MAX - 1));
  events.push_back(recv(EventKind::probe, end(last, kMostTag, kMostBytes), true, true, 7));
  events.push_back(recv(EventKind::probe, end(last, kMostTag, kMostBytes), true, true));
  events.push_back(recv(EventKind::recv, end(last, kMostTag, kMostBytes), true, true));
  events.back().taken = 7;
  events.push_back(recv(EventKind::irecv, end(0, 0, Bytes(1)), false, false, 8));
  events.back().taken = UINT64_MAX;
}

void add_reductions(std::vector<Event>& events) {
  using machine::Combining;
  using machine::Operand;
  using machine::Reduction;
  for (const Reduction reduction :
       {machine::reduction_of(Combining::minmaxloc, Operand::int64), Reduction::other}) {
    events.push_back(collective(machine::Cost::allreduce, kMostBytes, LocalRank()));
    events.back().reduction = reduction;
    events.push_back(of_kind(EventKind::call));
    events.back().bytes = kMostBytes;
    events.back().reduction = reduction;
    events.push_back(of_kind(EventKind::call));
    events.back().count = 3;
    events.back().reduction = Reduction::sum_double;
  }
}

void add_untouched(std::vector<Event>& events, int last) {
  const auto sent = [last] { return end(last, kMostTag, kMostBytes); };
  events.push_back(send(EventKind::send, sent(), machine::SendMode::ready));
  events.push_back(send(EventKind::isend, sent(), machine::SendMode::standard, 3));
  events.push_back(send(EventKind::sendrecv, sent(), machine::SendMode::standard));
  events.push_back(collective(machine::Cost::comm_dup, kMostBytes, LocalRank(last)));
  for (auto event = events.end() - 4; event != events.end(); ++event) event->send.untouched = true;
}

void add_pieces(std::vector<Event>& events, int last) {
  const auto of_peer = [last] { return end(last, kMostTag, kMostBytes); };
  events.push_back(send(EventKind::send, of_peer(), machine::SendMode::ready));
  events.push_back(send(EventKind::isend, of_peer(), machine::SendMode::standard, 3));
  events.push_back(send(EventKind::sendrecv, of_peer(), machine::SendMode::standard));
  for (auto event = events.end() - 3; event != events.end(); ++event) {
    event->send.piece = 8;
    event->send.untouched = event->kind == EventKind::isend;
  }
  for (const EventKind kind : {EventKind::sendrecv, EventKind::recv, EventKind::irecv}) {
    events.push_back(of_kind(kind));
    events.back().recv = of_peer();
    events.back().recv.any_tag = true;
    events.back().recv.piece = UINT16_MAX;
    if (kind == EventKind::irecv) events.back().request = 4;
    if (kind == EventKind::recv) events.back().taken = 2;
  }
}

void add_calls(std::vector<Event>& events, int last) {
  events.push_back(of_kind(EventKind::call));
  events.back().count = UINT32_MAX;
  events.push_back(of_kind(EventKind::call));
  events.back().count = 0;
  events.push_back(of_kind(EventKind::call));
  events.back().bytes = kMostBytes;
  events.push_back(of_kind(EventKind::call));
  events.back().send.peer = WorldRank(last);
  for (const machine::OneSided what : {machine::OneSided::put, machine::OneSided::unlock}) {
    events.push_back(of_kind(EventKind::call));
    events.back().one_sided = what;
    events.push_back(events.back());
    events.back().send.peer = WorldRank(last);
    events.back().bytes = kMostBytes;
    events.push_back(events.back());
    events.back().request = 9;
  }
  for (const double value : {0.0, -1.5, std::numeric_limits<double>::denorm_min()}) {
    events.push_back(of_kind(EventKind::mark));
    events.back().value = value;
  }
}

void add_completions(std::vector<Event>& events, int last) {
  events.push_back(of_kind(EventKind::complete));
  Event complete = of_kind(EventKind::complete);
  complete.completions.resize(4);
  complete.completions[0].request = UINT64_MAX;
  complete.completions[1] = {2, WorldRank(last), kLeastTag, kMostBytes, false};
  complete.completions[2] = {3, WorldRank(0), kMostTag, Bytes(0), true};
  complete.completions[3].request = 1;
  complete.completions[3].cancelled = true;
  events.push_back(complete);
  complete.completions.assign(1000, {7, WorldRank(0), 3, Bytes(1000), false});
  events.push_back(complete);
}

// Gives the events times that follow each other; the spans that the format
// just holds come once, so that their sum fits a Time.
void set_times(std::vector<Event>& events, Clock clock) {
  Time now;
  for (std::size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    const auto n = static_cast<std::int64_t>(i);
    event.compute = i == 3 ? kLongest : Time::ps(n * n * n * 1'000'003);
    if (i % 3 == 1) event.steps = 0.1 * static_cast<double>(n);
    if (clock == Clock::cpu) {
      now += event.compute;
      event.enter = event.leave = now;
      continue;
    }
    event.enter = now + Time::ps(n * 77'777);
    event.leave = event.enter + (i == 5 ? kLongest : Time::ps(n % 4 == 0 ? 0 : n * 1'000'000'007));
    if (i % 2 == 1) event.wait = i == 5 ? kLongest : Time::ps(n);
    now = event.leave;
  }
  if (clock == Clock::virtual_) {
    events[1].join = {1, false, kLongest, Time(), true, 0.1, 3e300};
    events[events.size() - 1].join = {events.size() - 1, true, Time::ps(7), kLongest};
    events[events.size() - 2].join = {2, true, Time::ps(1), Time::ps(2), true, 3, 4};
    events[events.size() - 2].second = {3, false, Time::ps(5), Time(), true, 6, 0};
  }
  events[1].steps = std::numeric_limits<double>::max();
  events[4].steps = std::numeric_limits<double>::denorm_min();
}

}  // namespace

TraceInfo sample_info(int ranks, Clock clock) {
  TraceInfo info;
  info.ranks = ranks;
  info.clock = clock;
  info.program = "./app --text \"caf\xc3\xa9\" \\ \t 'x'";
  info.origin = "record";
  info.machine = "machine";
  info.options = "bound=avg compute=none";
  info.mpi = "some MPI";
  return info;
}

std::vector<Event> sample_events(int ranks, Clock clock) {
  const int last = ranks - 1;
  std::vector<Event> events{of_kind(EventKind::init)};
  add_messages(events, last);
  add_completions(events, last);
  events.push_back(collective(machine::Cost::barrier, Bytes(0), LocalRank()));
  events.push_back(collective(machine::Cost::comm_dup, kMostBytes, LocalRank(last)));
  for (int cost = static_cast<int>(machine::Cost::barrier);
       cost <= static_cast<int>(machine::Cost::comm_dup); ++cost)
    events.push_back(collective(static_cast<machine::Cost>(cost), Bytes(8), LocalRank(0)));
  for (const std::uint64_t request : {std::uint64_t{1}, UINT64_MAX}) {
    events.push_back(collective(machine::Cost::bcast, kMostBytes, LocalRank(last)));
    events.back().kind = EventKind::icollective;
    events.back().request = request;
  }
  // Not all, so that there are files of each version.
  if (clock == Clock::virtual_) {
    add_reductions(events);
    add_untouched(events, last);
    add_pieces(events, last);
  }
  add_calls(events, last);
  events.push_back(of_kind(EventKind::phase_begin));
  events.push_back(of_kind(EventKind::phase_end));
  events.push_back(of_kind(EventKind::finalize));
  for (const std::int32_t code : {11, 0, INT32_MAX, INT32_MIN}) {
    events.push_back(of_kind(EventKind::aborted));
    events.back().code = code;
  }
  set_times(events, clock);
  for (std::size_t i = 0; i < events.size(); ++i)
    if (i % 5 > 2) events[i].site = static_cast<SiteId>(i % 5 - 2);
  return events;
}

std::vector<Event> many_events(int ranks, int rank, std::size_t count, Clock clock) {
  std::vector<Event> events;
  std::uint64_t state = 88172645463325252u + static_cast<std::uint64_t>(rank);
  Time now;
  for (std::size_t i = 0; i < count; ++i) {
    // Marsaglia's xorshift: the same numbers everywhere.
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    Event event = of_kind(i % 2 == 0 ? EventKind::isend : EventKind::complete);
    event.compute = Time::ps(static_cast<std::int64_t>(state % 100'000'000));
    if (i % 2 == 0) {
      const auto peer = static_cast<int>(state % static_cast<unsigned>(ranks));
      event.send = end(peer, static_cast<std::int32_t>(state >> 40), Bytes(state >> (state % 64)));
      event.request = i;
    } else {
      event.completions.resize(state % 5);
      for (Completion& completion : event.completions)
        completion = {state >> 20, WorldRank(0), static_cast<std::int32_t>(i), Bytes(i), false};
    }
    now += event.compute;
    event.enter = event.leave = now;
    if (clock != Clock::cpu) event.leave = now += Time::ps(static_cast<std::int64_t>(state % 1000));
    events.push_back(event);
  }
  return events;
}

void define(TraceWriter& writer, int ranks) {
  std::vector<WorldRank> members;
  for (int r = 0; r < ranks; ++r) members.emplace_back(r);
  writer.define_name("MPI_Something");
  writer.define_comm(0, members);
  writer.define_site({"/usr/bin/application", 0x1234});
  writer.define_site({"", UINT64_MAX});
}

std::vector<Event> read_all(TraceReader& reader, int rank) {
  std::vector<Event> events;
  Event event;
  while (reader.next(WorldRank(rank), event)) events.push_back(event);
  return events;
}

std::string read_bytes(const std::string& path) {
  return read_if_possible(path);
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace foretrace::trace
