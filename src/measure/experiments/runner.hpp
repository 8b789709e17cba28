// Runner: repeats an experiment in blocks of synchronised starts.
//
// All ranks of the group agree on the common clock's reading of the first start
// and on the distance between starts; each spins until its next start comes (the
// round-time scheme). A repetition for which some rank came late is dropped, a
// block in which some rank was switched out is marked, and the next one is
// shorter: on a busy machine a block of few calls survives. Of calls so long that
// even few of them are seldom left alone, only the repetitions are dropped in which
// that happened. The longest calls are a block each. If the caller wants it so, a barrier starts
// every repetition instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/experiments/clock.hpp"
#include "measure/experiments/common_clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/group.hpp"

namespace foretrace::measure {

struct RunnerSettings {
  const CommonClock* clock = nullptr;
  bool start_by_barrier = false;
  bool oversubscribed = false;
  // waits_by_yielding(): being switched out says nothing, and who waits for a start gives its
  // core to those who still have something to do.
  bool yields = false;
  TimerFacts timer;
  int rehearsals = 4;           // before the first block; of long calls one
  int blocks = 5;               // wanted per visit of a point
  int repetitions = 40;         // at most, in a block
  double block_seconds = 1e-3;  // long operations are repeated less often
  double point_seconds = 0.2;   // give up wanting more after this
};

struct Block {
  std::string function;
  double seconds = 0;
  bool kept = true;
};

// Measures one experiment; collective over `group`. The result is valid on
// rank 0 and holds at least one block for each function.
std::vector<Block> run_experiment(const Experiment& experiment, const Group& group,
                                  const RunnerSettings& settings);

}  // namespace foretrace::measure
