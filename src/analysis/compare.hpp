// Comparison: the times of two traces of the same program, side by side.
//
// The three levels of cmptrace (Howell's thesis, section 2.4.1): A event by event, B
// per rank and state, C per state. Serves prediction against measurement, two
// machines, or two runs on one. Computes only; the views draw it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

enum class CompareLevel { events, ranks, states };

// One line: the time that traces A and B spent in the same state.
struct ComparedTime {
  Time a;
  Time b;

  // b / a; 1 where both are zero, infinity where only a is.
  double ratio() const;
};

struct ComparedEvent : ComparedTime {
  WorldRank rank;
  std::size_t state = 0;  // index into Comparison::states
  std::size_t event = 0;  // number of the event on its rank, from 0, the same in both
};

struct ComparedRank : ComparedTime {
  WorldRank rank;
  std::size_t state = 0;
};

struct ComparedState : ComparedTime {
  std::size_t state = 0;
};

// The first place where the two programs do not do the same.
struct Difference {
  WorldRank rank;         // invalid: the numbers of ranks differ
  std::size_t event = 0;  // number of the event, from 0
  std::string a;          // what A has there: a function, "phase begin NAME", "no more events"
  std::string b;
};

struct Comparison {
  trace::TraceInfo a;
  trace::TraceInfo b;
  bool a_complete = true;
  bool b_complete = true;
  ComparedTime time;         // of the programs
  ComparedTime serial_time;  // sums of compute

  std::optional<Difference> difference;  // none: the same calls in the same order
  std::vector<std::string> states;    // COMPUTE, A's functions in order of first use, then B's own
  std::vector<ComparedEvent> events;  // level A: each rank up to its first difference
  std::vector<ComparedRank>
      by_rank;  // level B: by rank, then state; states unused by both left out
  std::vector<ComparedState> by_state;  // level C
};

// `events` is filled only for CompareLevel::events. Two traces have the same
// structure when every rank has the same sequence of calls and phase marks,
// by function and phase name; sizes, partners and repeat counts may differ.
Comparison compare_traces(const trace::Trace& a, const trace::Trace& b, CompareLevel level);

}  // namespace foretrace::analysis
