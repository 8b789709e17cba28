// What-if on the graph of a run: its moments again with some links changed.
//
// Where the graph is fixed (sim::Dependences::fixed) these are the times that a
// simulation of the edited operations gives, to the picosecond; elsewhere they only
// say what to simulate.
#pragma once

#include <optional>
#include <vector>

#include "explain/edits.hpp"
#include "explain/run.hpp"

namespace foretrace::explain {

// The run time with `edits`: one pass over the graph. A finding's few calls of a site
// in a large run cost as much as all.
Time time_with(const Run& run, const Edits& edits);

// By moment: the longest way from it to the end of a rank's program; nothing where no
// end depends on it. A moment's slack is the run's time less its own and this.
class Tails {
 public:
  explicit Tails(const Run& run);
  bool reaches_end(sim::MomentId id) const { return tails_[id] >= Time(); }
  Time tail(sim::MomentId id) const { return tails_[id]; }
  // How much later the moment may be without effect on the run's time; the run's
  // time where nothing depends on it.
  Time slack(const Run& run, sim::MomentId id) const {
    return reaches_end(id) ? run.time - run.graph[id].at - tails_[id] : run.time;
  }

 private:
  std::vector<Time> tails_;  // negative: none
};

// By moment: the run time if the call that leaves then need not wait (leaves with a
// wait; the run's time for all other moments). All at once: a way around a moment has a
// link that leads from before it to after it in the order of the graph, so that its
// length is the largest of those links' longest ways. A collective that is carried out
// as messages has one such moment for each step.
std::vector<Time> times_without_each_wait(const Run& run, const Tails& tails);

}  // namespace foretrace::explain
