#include "analysis/compare.hpp"

#include <algorithm>
#include <limits>

#include "analysis/profile.hpp"
#include "analysis/segments.hpp"

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Trace;

std::string describe(const Trace& trace, const std::vector<Event>& events, std::size_t index) {
  if (index >= events.size()) return "no more events";
  const Event& event = events[index];
  switch (event.kind) {
    case EventKind::phase_begin:
      return "phase begin " + trace.names.at(event.name);
    case EventKind::phase_end:
      return "phase end " + trace.names.at(event.name);
    case EventKind::mark:
      return "mark " + trace.names.at(event.name);
    case EventKind::aborted:
      return "end of an aborted run";
    default:
      return trace.names.at(event.name);
  }
}

// As what a call was written, for two of one name that are not the same.
const char* written_as(const Event& event) {
  switch (event.kind) {
    case EventKind::send:
      return "a send";
    case EventKind::recv:
      return "a receive";
    case EventKind::sendrecv:
      return "a send and a receive";
    case EventKind::isend:
      return "a posted send";
    case EventKind::irecv:
      return "a posted receive";
    case EventKind::complete:
      return "a completion of requests";
    case EventKind::collective:
      return "a collective";
    case EventKind::icollective:
      return "a posted collective";
    case EventKind::probe:
      return "a probe";
    default:
      return "a local call";
  }
}

// What the two have at this place, where they differ.
std::string number_of_ranks(const Trace& trace) {
  return std::to_string(trace.ranks.size()) + (trace.ranks.size() == 1 ? " rank" : " ranks");
}

void describe_difference(const Trace& a, const Trace& b, std::size_t rank, std::size_t index,
                         Difference& difference) {
  const auto& x = a.ranks[rank];
  const auto& y = b.ranks[rank];
  difference = {WorldRank(static_cast<std::int32_t>(rank)), index, describe(a, x, index),
                describe(b, y, index)};
  if (difference.a != difference.b) return;
  difference.a += std::string(" as ") + written_as(x[index]);
  difference.b += std::string(" as ") + written_as(y[index]);
}

bool same_call(const Trace& a, const Event& x, const Trace& b, const Event& y) {
  return x.kind == y.kind &&
         (x.kind == EventKind::aborted || a.names.at(x.name) == b.names.at(y.name));
}

// Number of leading events that are the same in both.
std::size_t common_prefix(const Trace& a, const Trace& b, std::size_t rank) {
  const auto& x = a.ranks[rank];
  const auto& y = b.ranks[rank];
  const std::size_t shorter = std::min(x.size(), y.size());
  std::size_t n = 0;
  while (n < shorter && same_call(a, x[n], b, y[n])) ++n;
  return n;
}

// Time before and in each event.
struct EventTimes {
  std::vector<Time> compute;
  std::vector<Time> call;
};

EventTimes event_times(const std::vector<Event>& events) {
  EventTimes times{std::vector<Time>(events.size()), std::vector<Time>(events.size())};
  visit_segments(events, [&](const Segment& segment) {
    (segment.compute ? times.compute : times.call)[segment.event] = segment.to - segment.from;
  });
  return times;
}

void compare_rank_events(const Trace& a, const Trace& b, std::size_t rank, std::size_t count,
                         const std::vector<std::size_t>& state_of_name, Comparison& result) {
  const EventTimes x = event_times(a.ranks[rank]);
  const EventTimes y = event_times(b.ranks[rank]);
  const WorldRank id(static_cast<std::int32_t>(rank));
  for (std::size_t i = 0; i < count; ++i) {
    if (x.compute[i] != Time() || y.compute[i] != Time())
      result.events.push_back({{x.compute[i], y.compute[i]}, id, 0, i});
    const Event& event = a.ranks[rank][i];
    if (!is_timed_call(event)) continue;
    result.events.push_back({{x.call[i], y.call[i]}, id, state_of_name[event.name], i});
  }
}

Time at(const StateTimes& times, std::size_t rank, const std::string& state) {
  const std::size_t index = times.find(state);
  if (rank >= times.time.size() || index >= times.states.size()) return Time();
  return times.time[rank][index];
}

void compare_totals(const StateTimes& x, const StateTimes& y, Comparison& result) {
  const std::size_t ranks = std::max(x.time.size(), y.time.size());
  for (std::size_t state = 0; state < result.states.size(); ++state)
    result.by_state.push_back({{}, state, {}, {}});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const WorldRank id(static_cast<std::int32_t>(rank));
    for (std::size_t state = 0; state < result.states.size(); ++state) {
      const ComparedTime time{at(x, rank, result.states[state]), at(y, rank, result.states[state])};
      ComparedState& sum = result.by_state[state];
      sum.a += time.a;
      sum.b += time.b;
      if (time.distance() > sum.of_most.distance()) {
        sum.most = id;
        sum.of_most = time;
      }
      if (time.a == Time() && time.b == Time()) continue;
      result.by_rank.push_back({time, id, state});
    }
  }
  result.serial_time = result.by_state.front();
}

const PhaseProfile* find_phase(const std::vector<PhaseProfile>& phases, const std::string& name) {
  const auto found = std::ranges::find(phases, name, &PhaseProfile::name);
  return found == phases.end() ? nullptr : &*found;
}

ComparedPhase compare_phase(const PhaseProfile* a, const PhaseProfile* b) {
  ComparedPhase phase;
  phase.name = (a != nullptr ? a : b)->name;
  phase.a = a != nullptr ? a->time : Time();
  phase.b = b != nullptr ? b->time : Time();
  const auto of_rank = [](const PhaseProfile* of, std::size_t rank) {
    return of != nullptr && rank < of->per_rank.size() ? of->per_rank[rank] : Time();
  };
  const std::size_t ranks =
      std::max(a != nullptr ? a->per_rank.size() : 0, b != nullptr ? b->per_rank.size() : 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const ComparedTime time{of_rank(a, rank), of_rank(b, rank)};
    if (time.distance() <= phase.of_most.distance()) continue;
    phase.most = WorldRank(static_cast<std::int32_t>(rank));
    phase.of_most = time;
  }
  return phase;
}

std::vector<ComparedPhase> compare_phases(const Trace& a, const Trace& b) {
  // Nobody asks who waits for whom.
  const std::vector<PhaseProfile> x = profile_trace(a, {}, 0).phases;
  const std::vector<PhaseProfile> y = profile_trace(b, {}, 0).phases;
  std::vector<ComparedPhase> phases;
  for (const PhaseProfile& phase : x)
    phases.push_back(compare_phase(&phase, find_phase(y, phase.name)));
  for (const PhaseProfile& phase : y)
    if (find_phase(x, phase.name) == nullptr) phases.push_back(compare_phase(nullptr, &phase));
  return phases;
}

// The latest rank, the lowest of several, and its time.
WorldRank slowest(const std::vector<Time>& times, Time& latest) {
  const auto found = std::ranges::max_element(times);
  if (found == times.end()) return {};
  latest = *found;
  return WorldRank(static_cast<std::int32_t>(found - times.begin()));
}

}  // namespace

double ComparedTime::ratio() const {
  if (a == b) return 1;
  if (a == Time()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(b.count_ps()) / static_cast<double>(a.count_ps());
}

RunTimes run_times(const Trace& trace) {
  RunTimes run{trace.info, trace.sealed, state_times(trace), {}};
  if (trace.info.clock == trace::Clock::cpu) return run;
  run.wait = Time();
  for (const auto& rank : run.states.wait)
    for (Time wait : rank) *run.wait += wait;
  return run;
}

RunTimes run_times(const CallProfile& profile) {
  RunTimes run;
  run.info.ranks = profile.ranks;
  run.info.clock = trace::Clock::wall;
  run.info.program = profile.program;
  run.info.origin = "profile";
  run.info.mpi = profile.mpi;
  run.complete = profile.complete;
  run.states.states.push_back(kComputeState);
  for (const FunctionTotal& function : profile.functions)
    run.states.states.push_back(function.name);
  const std::size_t count = run.states.states.size();
  run.states.time.assign(static_cast<std::size_t>(profile.ranks), std::vector<Time>(count));
  run.states.wait = run.states.time;
  run.states.rank_time.assign(static_cast<std::size_t>(profile.ranks), Time());
  for (const RankTotal& rank : profile.per_rank) {
    const auto number = static_cast<std::size_t>(rank.rank.value);
    std::vector<Time>& time = run.states.time.at(number);
    run.states.rank_time[number] = rank.time;
    time[0] = rank.application;
    for (std::size_t state = 1; state < count; ++state) {
      const auto own = rank.functions.find(run.states.states[state]);
      if (own != rank.functions.end()) time[state] = own->second;
    }
  }
  return run;
}

Comparison compare_runs(const RunTimes& a, const RunTimes& b) {
  Comparison result;
  result.a = a.info;
  result.b = b.info;
  result.a_complete = a.complete;
  result.b_complete = b.complete;
  result.a_wait = a.wait;
  result.b_wait = b.wait;
  result.a_slowest = slowest(a.states.rank_time, result.time.a);
  result.b_slowest = slowest(b.states.rank_time, result.time.b);
  result.with_events = false;
  result.states = a.states.states;
  for (const std::string& state : b.states.states)
    if (a.states.find(state) == a.states.states.size()) result.states.push_back(state);
  compare_totals(a.states, b.states, result);
  return result;
}

Comparison compare_traces(const Trace& a, const Trace& b, CompareLevel level) {
  const RunTimes x = run_times(a);
  Comparison result = compare_runs(x, run_times(b));
  result.with_events = true;
  if (level == CompareLevel::phases) result.by_phase = compare_phases(a, b);
  std::vector<std::size_t> state_of_name(a.names.size(), 0);
  for (std::size_t name = 0; name < a.names.size(); ++name)
    state_of_name[name] = x.states.find(a.names[name]);

  if (a.ranks.size() != b.ranks.size())
    result.difference = {WorldRank(), 0, number_of_ranks(a), number_of_ranks(b)};
  for (std::size_t rank = 0; rank < std::min(a.ranks.size(), b.ranks.size()); ++rank) {
    const std::size_t same = common_prefix(a, b, rank);
    if (!result.difference && (same < a.ranks[rank].size() || same < b.ranks[rank].size()))
      describe_difference(a, b, rank, same, result.difference.emplace());
    if (level == CompareLevel::events) compare_rank_events(a, b, rank, same, state_of_name, result);
  }
  return result;
}

}  // namespace foretrace::analysis
