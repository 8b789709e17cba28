// The few figures of a machine that everybody asks for first, and what speaks against trusting
// its sheet. From a Datasheet; formats nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/datasheet.hpp"

namespace foretrace::analysis {

// A message from one rank to another, seconds from its start until it is there.
struct KeyMessage {
  std::string function;  // "pingpong", of which it is the half, or "recv"
  SheetTime time;
};

// One call at each of the sheet's numbers of ranks.
struct KeyCall {
  std::string function;
  Bytes bytes;
  bool has_data = true;
  std::vector<SheetTime> times;
};

// How far equations are from sizes that were left out of their fit.
struct KeyError {
  double middle = 0;  // the median over functions of their mean errors
  double worst = 0;
  std::string worst_function;
};

struct KeyFigures {
  std::optional<KeyMessage> small;  // of 8 bytes, or the least that was measured
  std::optional<KeyMessage> large;  // of 1 MiB, or the largest that was measured below it
  std::vector<KeyCall> calls;       // barrier, bcast, allreduce, alltoall; those that there are
  std::optional<KeyError> error;
};

KeyFigures key_figures(const Datasheet& sheet);

}  // namespace foretrace::analysis
