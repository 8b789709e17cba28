// Comparison: the times of two runs of the same program, side by side.
//
// The three levels of cmptrace (Howell's thesis, section 2.4.1): A event by event, B
// per rank and state, C per state; and its second table, phase by phase. Serves prediction against
// measurement, two machines, or two runs on one. A run is a trace or a profile's counters; those
// know no events, so only B and C. Computes only; the views draw it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/call_profile.hpp"
#include "analysis/run_events.hpp"
#include "analysis/segments.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

enum class CompareLevel { events, ranks, states, phases };

// One line: the time that traces A and B spent in the same state.
struct ComparedTime {
  Time a;
  Time b;

  // b / a; 1 where both are zero, infinity where only a is.
  double ratio() const;
  Time difference() const { return b - a; }
  // How much the two differ, whichever is more.
  Time distance() const { return a < b ? b - a : a - b; }
};

struct ComparedEvent : ComparedTime {
  WorldRank rank;
  std::size_t state = 0;  // index into Comparison::states
  std::size_t event = 0;  // number of the (first) event on its rank in A, from 0
};

struct ComparedRank : ComparedTime {
  WorldRank rank;
  std::size_t state = 0;
};

struct ComparedState : ComparedTime {
  std::size_t state = 0;
  // The rank with the greatest difference, the lowest of several; invalid: none differs.
  WorldRank most;
  ComparedTime of_most;
};

// A phase of the program: the maximum over all ranks, as Profile has it.
struct ComparedPhase : ComparedTime {
  std::string name;
  // The rank with the greatest difference, the lowest of several; invalid: none differs.
  WorldRank most;
  ComparedTime of_most;
};

// The first place where the two programs do not do the same.
struct Difference {
  WorldRank rank;         // invalid: the numbers of ranks differ
  std::size_t event = 0;  // number of the event, from 0, in A
  // What A has there: a function, "phase begin NAME", "no more events". If both have the same
  // function, "MPI_Isend as a posted send": what it is in the trace.
  std::string a;
  std::string b;
};

// What is compared of one run.
struct RunTimes {
  trace::TraceInfo info;
  bool complete = true;
  StateTimes states;
  std::optional<Time> wait;  // over all ranks; none: not known
  std::vector<trace::Damage> damage;
};

struct Comparison {
  trace::TraceInfo a;
  trace::TraceInfo b;
  bool a_complete = true;
  bool b_complete = true;
  std::vector<trace::Damage> a_damage;
  std::vector<trace::Damage> b_damage;
  std::optional<Time> a_wait;  // over all ranks; none: not known
  std::optional<Time> b_wait;
  WorldRank a_slowest;  // whose time is the program's; invalid: no ranks
  WorldRank b_slowest;
  bool with_events = true;   // false: one is a profile, so nobody knows where they differ first
  ComparedTime time;         // of the programs
  ComparedTime serial_time;  // sums of compute

  std::optional<Difference> difference;  // none: the same calls in the same order, if with_events
  std::vector<std::string> states;    // COMPUTE, A's functions in order of first use, then B's own
  std::vector<ComparedEvent> events;  // level A: each rank up to its first difference
  std::vector<ComparedRank>
      by_rank;  // level B: by rank, then state; states unused by both left out
  std::vector<ComparedState> by_state;  // level C
  std::vector<ComparedPhase> by_phase;  // level phases: A's in order of first use, then B's own
};

// The times of a trace.
RunTimes run_times(RunEvents run);
// Those of a profile, which knows nothing of waits.
RunTimes run_times(const CallProfile& profile);

// Levels B and C.
Comparison compare_runs(const RunTimes& a, const RunTimes& b);

// `events` is filled only for CompareLevel::events, `by_phase` only for phases. Two traces have the
// same structure when every rank has the same sequence of calls and phase marks, by function and
// phase name; sizes, partners and repeat counts may differ.
Comparison compare_traces(RunEvents a, RunEvents b, CompareLevel level);

}  // namespace foretrace::analysis
