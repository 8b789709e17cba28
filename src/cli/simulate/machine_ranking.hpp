// One run on every machine that comes with the tool: which would be the fastest, and
// which cannot be told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "cli/simulate/simulation.hpp"

namespace foretrace::cli {

struct RankedMachine {
  std::string name;
  std::string network;  // how its messages travelled
  Time time;
  Time least, most;  // by the errors of its model; both `time` where it has none
  // Among those with an interval, from 1: those that are surely faster, and one more; all but
  // those that are surely slower.
  std::size_t best_place = 1, worst_place = 1;
  std::vector<std::string> beyond;  // functions beyond what was measured

  bool has_interval() const { return least < most; }
};

struct UnrankedMachine {
  std::string name;
  std::string reason;
};

struct Ranking {
  std::vector<RankedMachine> ranked;  // fastest first
  std::vector<UnrankedMachine> unranked;
  bool own_steps = false;  // --compute annotated: each machine's own
};

// `options` as for `simulate`, without a machine. A network that is not given is the data
// sheet where that has all that the run needs, else loggps. A machine on which the run
// needs a function that nobody measured there, or a step of computation, is not ranked.
Ranking rank_machines(const SimulationOptions& options);

std::string render_ranking(const Ranking& ranking);
std::string ranking_json(const Ranking& ranking);

}  // namespace foretrace::cli
