// What --compute needs beside the operations' own figures, read once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/node_ranks.hpp"
#include "compute/regions.hpp"
#include "compute/rule.hpp"
#include "compute/spec.hpp"
#include "machine/compute_costs.hpp"

namespace foretrace::compute {

struct Rules {
  // Empty where the interval alone tells the time (none, annotated, counted,
  // measured with one scale).
  RuleMaker make;
  bool needs_cpu = false;
  double scale = 1;  // measured without a rule: seconds there for a second here
  // What the user should know of them, a line without an end; empty: nothing.
  std::string note;
};

// `scale_from`: the model of the machine that measures; empty: not given. `ranks`
// must be those of a trace that is replayed. `node_ranks`: by rank; empty: not known. Throws
// UsageError where the options do not go together, Error for files.
Rules read_rules(const Spec& spec, const std::string& scale_from,
                 const machine::ComputeCosts& target, int ranks,
                 const std::vector<NodeRanks>& node_ranks);

}  // namespace foretrace::compute
