// Segments: a rank's history as intervals without holes, each a computation or
// a call.
//
// The one place that says which part of a trace is computation and which is
// MPI: profile, comparison and time lines all walk a trace through here, so
// that their sums agree. MPI_Init and MPI_Finalize take no time, the history
// ends on entry to MPI_Finalize (docs/theory.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/run_events.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

// The state of a rank that is in no MPI call.
inline constexpr const char* kComputeState = "COMPUTE";

struct Segment {
  std::size_t event = 0;  // the call, or the event that ends the computation
  bool compute = false;
  Time from;
  Time to;    // >= from
  Time wait;  // calls: the part of to - from that was spent waiting for others
};

// True for events that are MPI calls with a duration: not phases and marks, not
// the end of a run, not MPI_Init and MPI_Finalize.
inline bool is_timed_call(const trace::Event& event) {
  using trace::EventKind;
  switch (event.kind) {
    case EventKind::init:
    case EventKind::finalize:
    case EventKind::phase_begin:
    case EventKind::phase_end:
    case EventKind::mark:
    case EventKind::aborted:
      return false;
    default:
      return true;
  }
}

// One rank's events in, its segments out, in order of time. Computations of
// length zero are left out, calls of length zero are not.
class SegmentWalk {
 public:
  // Calls visit(const Segment&) for what ends with this event, number `i`.
  template <class Visitor>
  void take(std::size_t i, const trace::Event& event, Visitor&& visit) {
    if (finalized_) return;
    if (event.kind == trace::EventKind::init) {
      now_ = event.leave;
      return;
    }
    if (event.enter > now_) visit(Segment{i, true, now_, event.enter, Time()});
    finalized_ = event.kind == trace::EventKind::finalize;
    now_ = finalized_ ? event.enter : event.leave;
    if (is_timed_call(event)) visit(Segment{i, false, event.enter, event.leave, event.wait});
  }
  // The rank's time: its clock on entry to MPI_Finalize, or where its last event left.
  Time end() const { return now_; }

 private:
  Time now_;
  bool finalized_ = false;
};

// Reads one rank of a run: calls visit_event(event) for each event, then visit_segment(event,
// segment) for what ends with it. Returns the rank's time.
template <class EventVisitor, class SegmentVisitor>
Time read_rank(RunEvents& run, int rank, EventVisitor&& visit_event,
               SegmentVisitor&& visit_segment) {
  SegmentWalk walk;
  run.begin(WorldRank(rank));
  for (std::size_t i = 0; const trace::Event* event = run.next(); ++i) {
    visit_event(*event);
    walk.take(i, *event, [&](const Segment& segment) { visit_segment(*event, segment); });
  }
  return walk.end();
}

// Calls visit(const Segment&) for every segment of one rank. Returns the rank's time.
template <class Visitor>
Time visit_segments(const std::vector<trace::Event>& events, Visitor&& visit) {
  SegmentWalk walk;
  for (std::size_t i = 0; i < events.size(); ++i) walk.take(i, events[i], visit);
  return walk.end();
}

// Seconds by rank and state.
struct StateTimes {
  std::vector<std::string> states;      // kComputeState, then functions in order of first use
  std::vector<std::vector<Time>> time;  // [rank][state], wait included
  std::vector<std::vector<Time>> wait;  // [rank][state]
  std::vector<Time> rank_time;          // [rank]

  // Index of a state, or states.size().
  std::size_t find(const std::string& state) const;
};

// Of a measured run (clock wall) waits are what find_waits() tells, of others what the events do.
StateTimes state_times(RunEvents& run);

}  // namespace foretrace::analysis
