// Rule: a way to find the time of one rank's computation that looks at more than
// the interval at hand: in which phase it is, what an earlier run did.
//
// Both prediction in the program's process (capture) and simulation ask it, event
// by event in the rank's order, so that both come to the same times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/event.hpp"

namespace foretrace::compute {

// What a rank did since its last event, and what the event is.
struct Interval {
  trace::EventKind kind = trace::EventKind::call;
  std::string_view name;    // function or phase
  Time measured;            // CPU time, where it is measured
  double steps = 0;         // announced or counted, where they are
  std::uint32_t count = 1;  // of local calls in a row
  bool goes_on = false;     // with the call of the event before
};

class Rule {
 public:
  virtual ~Rule() = default;
  // The time of the interval, before the event happens. Throws Error.
  virtual Time before(const Interval& interval) = 0;
  // What came of that event if it looked for something (mpi_api::is_poll): something,
  // or nothing.
  virtual void looked(bool /*found*/) {}
};

// The rule of a rank.
using RuleMaker = std::function<std::unique_ptr<Rule>(WorldRank)>;

}  // namespace foretrace::compute
