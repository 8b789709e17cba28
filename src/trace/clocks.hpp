// Clocks: how the clocks of a recording's hosts went against each other.
//
// Every rank writes times by its own host's clock, set to rank 0's when the
// run began. What the clocks drifted apart until the end is known only then;
// it stands in the sealed file, and the reader straightens the times by it.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace foretrace::trace {

// Between `from` and `to` of a rank's clock, rank 0's went `change` further.
struct ClockDrift {
  Time from;
  Time to;
  Time change;

  bool operator==(const ClockDrift&) const = default;

  // The time on rank 0's clock, rounded down to whole picoseconds: `change` is
  // spread evenly, also beyond the two measurements.
  Time straightened(Time time) const;
};

struct Clocks {
  int hosts = 0;                  // with a clock of their own; 0: not known
  Time error;                     // most by which a host's clock is off rank 0's
  std::vector<ClockDrift> drift;  // by rank; empty: none, or not known

  bool operator==(const Clocks&) const = default;
};

}  // namespace foretrace::trace
