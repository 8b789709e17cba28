// What an analytical model says: seconds, in all and by phase.
//
// From a ModelFile, a machine and values of the parameters to times. The data sheet's
// functions are T_NAME (docs/model.md): T_send(d) of point-to-point functions, T_barrier(p),
// T_bcast(p,d) of others; d in bytes, the result in seconds. Prints nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "formulas/model_file.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::formulas {

// By name; numbers as in --at.
using Values = std::map<std::string, double, std::less<>>;

// Seconds at the three bounds of the machine's equations, and of the file's NAME_min, NAME_max.
struct Spread {
  double min = 0, avg = 0, max = 0;
};

struct Phase {
  std::string name;
  Spread time;
};

struct Evaluation {
  Spread total;
  std::vector<Phase> phases;  // the addends of the total, in their order
  // What was taken in place of functions that the machine lacks; what lies outside of what
  // was measured. A line each.
  std::set<std::string> notes;
};

// The time of `model` on `machine` (nullptr: the model has to do without) with the parameters
// `at`, which count before the file's own values. Throws UsageError for a name in `at` that the
// model does not know and for one that has no value, Error "FILE:LINE: ..." where the model makes
// no sense.
Evaluation evaluate(const ModelFile& model, const machine::MachineModel* machine, const Values& at);

}  // namespace foretrace::formulas
