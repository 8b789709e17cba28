#include "analysis/compare.hpp"

#include <algorithm>
#include <limits>

#include "analysis/profile.hpp"
#include "analysis/segments.hpp"

namespace foretrace::analysis {
namespace {

using trace::Event;
using trace::EventKind;

// A call, which may be written as several events, or another event.
struct Entry {
  EventKind kind = EventKind::call;
  trace::NameId name = 0;
  std::vector<EventKind> communicates;  // its parts that do
  bool timed = false;
  std::size_t index = 0;  // of its first event
  // What ends with it.
  Time computed;
  Time called;
};

// The events of a rank, call by call.
class Entries {
 public:
  explicit Entries(RunEvents& run) : run_(run), ahead_(run.next()) {}

  std::size_t events() const { return index_; }  // so far
  // nullptr: there are no more. Valid until the next call.
  const Entry* next() {
    if (!ahead_) return nullptr;
    entry_ = {};
    entry_.kind = ahead_->kind;
    entry_.name = ahead_->name;
    entry_.timed = is_timed_call(*ahead_);
    entry_.index = index_;
    do {
      take(*ahead_);
      ahead_ = run_.next();
      // Threads, and functions that a call calls, may stand between its parts.
    } while (ahead_ && ahead_->count == 0 && entry_.timed && ahead_->name == entry_.name);
    return &entry_;
  }

 private:
  void take(const Event& event) {
    if (is_timed_call(event) && event.kind != EventKind::call)
      entry_.communicates.push_back(event.kind);
    walk_.take(index_, event, [&](const Segment& segment) {
      (segment.compute ? entry_.computed : entry_.called) += segment.to - segment.from;
    });
    ++index_;
  }

  RunEvents& run_;
  SegmentWalk walk_;
  const Event* ahead_;
  std::size_t index_ = 0;
  Entry entry_;
};

// nullptr: there are no more.
std::string describe(const RunEvents& run, const Entry* entry) {
  if (!entry) return "no more events";
  switch (entry->kind) {
    case EventKind::phase_begin:
      return "phase begin " + run.names().at(entry->name);
    case EventKind::phase_end:
      return "phase end " + run.names().at(entry->name);
    case EventKind::mark:
      return "mark " + run.names().at(entry->name);
    case EventKind::aborted:
      return "end of an aborted run";
    default:
      return run.names().at(entry->name);
  }
}

// As what a call was written, for two of one name that are not the same.
const char* written_as(EventKind kind) {
  switch (kind) {
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

std::string number_of_ranks(const RunEvents& run) {
  return std::to_string(run.ranks()) + (run.ranks() == 1 ? " rank" : " ranks");
}

// As what a call was written: its part number `part` of those that communicate.
std::string written_as(const Entry& entry, std::size_t part) {
  if (part < entry.communicates.size())
    return std::string(" as ") + written_as(entry.communicates[part]);
  return entry.communicates.empty() ? " as a local call" : " and no more of it";
}

// What the two have at a place where they differ.
Difference describe_difference(const RunEvents& a, const Entry* x, const RunEvents& b,
                               const Entry* y, WorldRank rank, std::size_t index) {
  Difference difference{rank, index, describe(a, x), describe(b, y)};
  if (difference.a != difference.b) return difference;
  const auto parts = std::ranges::mismatch(x->communicates, y->communicates);
  const auto part = static_cast<std::size_t>(parts.in1 - x->communicates.begin());
  difference.a += written_as(*x, part);
  difference.b += written_as(*y, part);
  return difference;
}

bool same_call(const RunEvents& a, const Entry& x, const RunEvents& b, const Entry& y) {
  if (x.timed != y.timed || x.communicates != y.communicates) return false;
  if (!x.timed && x.kind != y.kind) return false;
  return x.kind == EventKind::aborted || a.names().at(x.name) == b.names().at(y.name);
}

// Index into Comparison::states of A's names, each looked for once.
class StatesByName {
 public:
  std::size_t of(trace::NameId name, const std::vector<std::string>& names,
                 const std::vector<std::string>& states) {
    if (known_.size() <= name) known_.resize(name + std::size_t{1});
    std::optional<std::size_t>& known = known_[name];
    if (!known)
      known = static_cast<std::size_t>(std::ranges::find(states, names[name]) - states.begin());
    return *known;
  }

 private:
  std::vector<std::optional<std::size_t>> known_;
};

// Goes through a rank's events as long as both have the same; `level` events: with their times.
void compare_rank(RunEvents& a, RunEvents& b, WorldRank rank, CompareLevel level,
                  StatesByName& states, Comparison& result) {
  a.begin(rank);
  b.begin(rank);
  Entries in_a(a);
  Entries in_b(b);
  for (;;) {
    const Entry* x = in_a.next();
    const Entry* y = in_b.next();
    if (!x && !y) return;
    if (!x || !y || !same_call(a, *x, b, *y)) {
      if (!result.difference)
        result.difference = describe_difference(a, x, b, y, rank, x ? x->index : in_a.events());
      return;
    }
    if (level != CompareLevel::events) continue;
    if (x->computed != Time() || y->computed != Time())
      result.events.push_back({{x->computed, y->computed}, rank, 0, x->index});
    if (!x->timed) continue;
    const std::size_t state = states.of(x->name, a.names(), result.states);
    result.events.push_back({{x->called, y->called}, rank, state, x->index});
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

std::vector<ComparedPhase> compare_phases(const std::vector<PhaseProfile>& x,
                                          const std::vector<PhaseProfile>& y) {
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

namespace {

RunTimes times_of_events(RunEvents& run) {
  RunTimes times{run.info(), run.sealed(), state_times(run), {}, run.damage()};
  if (run.info().clock == trace::Clock::cpu) return times;
  times.wait = Time();
  for (const auto& rank : times.states.wait)
    for (const Time wait : rank) *times.wait += wait;
  return times;
}

}  // namespace

RunTimes run_times(RunEvents run) {
  return times_of_events(run);
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
  result.a_damage = a.damage;
  result.b_damage = b.damage;
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

Comparison compare_traces(RunEvents a, RunEvents b, CompareLevel level) {
  Comparison result = compare_runs(times_of_events(a), times_of_events(b));
  result.with_events = true;
  if (level == CompareLevel::phases)
    result.by_phase = compare_phases(phase_profiles(a), phase_profiles(b));
  if (a.ranks() != b.ranks())
    result.difference = {WorldRank(), 0, number_of_ranks(a), number_of_ranks(b)};
  StatesByName states;
  for (int rank = 0; rank < std::min(a.ranks(), b.ranks()); ++rank)
    compare_rank(a, b, WorldRank(rank), level, states, result);
  return result;
}

}  // namespace foretrace::analysis
