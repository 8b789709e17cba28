// What ranks spend in each phase of a run, and the efficiencies that follow.
#pragma once

#include <vector>

#include "explain/explanation.hpp"
#include "explain/run.hpp"
#include "sim/sink.hpp"

namespace foretrace::explain {

// By phase and rank.
struct PhaseTimes {
  std::vector<std::vector<Time>> elapsed;  // in calls and the computation before them
  std::vector<std::vector<Time>> compute;
};

PhaseTimes phase_times(const Run& run);

// Gathers the elapsed times of another simulation of the same calls.
class PhaseSink : public sim::Sink {
 public:
  explicit PhaseSink(const Run& run);
  void finished(WorldRank rank, const sim::Operation& operation,
                const sim::Interval& interval) override;
  const std::vector<std::vector<Time>>& elapsed() const { return elapsed_; }

 private:
  const Run* run_;
  std::vector<std::size_t> next_;           // by rank
  std::vector<std::vector<Time>> elapsed_;  // by phase and rank
};

// Of each phase that takes time; elapsed times on an ideal network, and there with files that take
// no time.
std::vector<PhaseEfficiency> phase_efficiencies(const Run& run,
                                                const std::vector<std::vector<Time>>& ideal,
                                                const std::vector<std::vector<Time>>& no_files);

}  // namespace foretrace::explain
