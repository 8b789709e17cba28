// Comparison of several runs with several others: means, differences and ratios with intervals.
//
// As compare.hpp for one against one, but of what is known of each run by itself: nothing is told
// of single events. Computes only; the views draw it.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare.hpp"
#include "analysis/profile.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "stats/two_means.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

// What is compared of one run.
struct GroupRun {
  std::string path;
  RunTimes times;
  std::vector<PhaseProfile> phases;  // empty for a profile
};

// Runs that are repetitions of each other. In the order in which they were given.
using RunGroup = std::vector<GroupRun>;

struct GroupSide {
  std::vector<Time> runs;  // empty: not known
  double mean = 0;         // ps
  double deviation = 0;    // of the runs, not of their mean; ps
};

// One line: the times that the runs of both sides spent on the same.
struct GroupLine {
  std::string name;  // "time", a state, a phase
  WorldRank rank;    // of the level `ranks`; else invalid
  GroupSide a, b;
  stats::MeanIntervals intervals;  // ps; where both sides are known

  bool known() const { return !a.runs.empty() && !b.runs.empty(); }
  double difference() const { return b.mean - a.mean; }
  double ratio() const;  // b / a; 1 where both are zero, infinity where only a is
  bool shows() const;    // something takes time
};

struct GroupComparison {
  RunGroup a, b;
  GroupLine time, serial_time, wait;
  std::vector<GroupLine> by_state;  // over all ranks; COMPUTE, then functions in order of first use
  std::vector<GroupLine> by_rank;   // by rank, then state; only for CompareLevel::ranks
  std::vector<GroupLine> by_phase;  // the maximum over all ranks

  // The lines of a level; not of CompareLevel::events.
  const std::vector<GroupLine>& at(CompareLevel level) const;
};

GroupRun group_run(const std::string& path, RunEvents run);

// A single run in virtual time is taken as exact. Throws Error where the runs of one side are
// not of the same number of ranks or by the same clock.
GroupComparison compare_groups(RunGroup a, RunGroup b, CompareLevel level = CompareLevel::states);

}  // namespace foretrace::analysis
