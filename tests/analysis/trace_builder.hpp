// TraceBuilder: traces made by hand, call by call, for tests of analyses and
// views.
//
// Each rank has its own clock; every call says how long it computes before,
// how long it takes and how much of that is waiting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace foretrace::test {

inline Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

class TraceBuilder {
 public:
  explicit TraceBuilder(int ranks, trace::Clock clock = trace::Clock::virtual_) {
    trace_.info.ranks = ranks;
    trace_.info.clock = clock;
    trace_.info.origin = "predict";
    trace_.ranks.resize(static_cast<std::size_t>(ranks));
    trace::Communicator world;
    for (int rank = 0; rank < ranks; ++rank) world.members.push_back(WorldRank(rank));
    trace_.comms.push_back(world);
  }

  // Appends an event that starts `compute` after the rank's last one and lasts
  // `takes`; the caller fills in the rest.
  trace::Event& add(int rank, trace::EventKind kind, std::string_view name, Time compute,
                    Time takes, Time wait = Time()) {
    auto& events = trace_.ranks.at(static_cast<std::size_t>(rank));
    const Time now = events.empty() ? Time() : events.back().leave;
    trace::Event event;
    event.kind = kind;
    event.name = name_id(name);
    event.compute = compute;
    event.enter = now + compute;
    event.leave = event.enter + takes;
    event.wait = wait;
    return events.emplace_back(std::move(event));
  }

  void init(int rank) { add(rank, trace::EventKind::init, "MPI_Init", Time(), Time()); }
  void finalize(int rank, Time compute = Time()) {
    add(rank, trace::EventKind::finalize, "MPI_Finalize", compute, Time());
  }
  void phase_begin(int rank, std::string_view name, Time compute = Time()) {
    add(rank, trace::EventKind::phase_begin, name, compute, Time());
  }
  void phase_end(int rank, std::string_view name, Time compute = Time()) {
    add(rank, trace::EventKind::phase_end, name, compute, Time());
  }
  void mark(int rank, std::string_view name, double value, Time compute = Time()) {
    add(rank, trace::EventKind::mark, name, compute, Time()).value = value;
  }
  void send(int rank, int to, int tag, std::uint64_t bytes, Time compute, Time takes,
            Time wait = Time()) {
    add(rank, trace::EventKind::send, "MPI_Send", compute, takes, wait).send =
        endpoint(to, tag, bytes);
  }
  void recv(int rank, int from, int tag, std::uint64_t bytes, Time compute, Time takes,
            Time wait = Time()) {
    add(rank, trace::EventKind::recv, "MPI_Recv", compute, takes, wait).recv =
        endpoint(from, tag, bytes);
  }
  void isend(int rank, std::uint64_t request, int to, int tag, std::uint64_t bytes, Time compute,
             Time takes) {
    trace::Event& event = add(rank, trace::EventKind::isend, "MPI_Isend", compute, takes);
    event.send = endpoint(to, tag, bytes);
    event.request = request;
  }
  void irecv(int rank, std::uint64_t request, int from, int tag, std::uint64_t bytes, Time compute,
             Time takes) {
    trace::Event& event = add(rank, trace::EventKind::irecv, "MPI_Irecv", compute, takes);
    event.recv = endpoint(from, tag, bytes);
    event.request = request;
  }
  trace::Event& collective(int rank, std::string_view name, machine::Cost which,
                           std::uint64_t bytes, Time compute, Time takes, Time wait = Time()) {
    trace::Event& event = add(rank, trace::EventKind::collective, name, compute, takes, wait);
    event.collective = which;
    event.bytes = Bytes(bytes);
    return event;
  }

  // The clock of a rank.
  Time now(int rank) const {
    const auto& events = trace_.ranks.at(static_cast<std::size_t>(rank));
    return events.empty() ? Time() : events.back().leave;
  }

  static trace::Endpoint endpoint(int peer, int tag, std::uint64_t bytes) {
    trace::Endpoint end;
    end.peer = WorldRank(peer);
    end.tag = tag;
    end.bytes = Bytes(bytes);
    return end;
  }

  trace::Trace& trace() { return trace_; }

 private:
  trace::NameId name_id(std::string_view name) {
    const auto found = std::find(trace_.names.begin(), trace_.names.end(), name);
    if (found != trace_.names.end())
      return static_cast<trace::NameId>(found - trace_.names.begin());
    trace_.names.emplace_back(name);
    return static_cast<trace::NameId>(trace_.names.size() - 1);
  }

  trace::Trace trace_;
};

}  // namespace foretrace::test
