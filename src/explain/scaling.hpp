// Efficiencies of several runs of one program, compared with the smallest of them, as the POP
// project defines them (docs/explain.md has the formulas).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/explanation.hpp"

namespace foretrace::explain {

// Strong: all runs solve one problem. Weak: each rank has as much to do in all of them.
enum class Scaling : std::uint8_t { strong, weak };

struct ScaledRun {
  std::string name;
  int ranks = 0;
  Time time;
  double compute = 0;  // seconds, of all ranks
  Efficiency efficiency;
  // Set by compare_runs().
  double computation = 1;  // scalability: computation of the reference / of this run
  double global = 1;       // parallel efficiency x computation scalability
  double speedup = 1;      // weak: of the work done in a second
};

// By the number of ranks; the first, with the fewest, is the reference.
void compare_runs(std::vector<ScaledRun>& runs, Scaling scaling);

}  // namespace foretrace::explain
