// ClockModel: the common clock as one rank's own clock shows it.
//
// The offset between two clocks was measured now and then; between and after
// the measurements it follows a line. Knows no MPI; common_clock.hpp measures.
#pragma once

#include <cstdint>
#include <deque>

#include "base/clock_offset.hpp"

namespace foretrace::measure {

// The common clock minus ours, as a line over ours. Nanoseconds.
struct ClockLine {
  std::int64_t at = 0;      // by our clock
  std::int64_t offset = 0;  // at that moment
  double drift = 0;         // seconds per second
  std::int64_t error = 0;   // of the offset at that moment

  std::int64_t to_common(std::int64_t ours) const;
  std::int64_t to_ours(std::int64_t common) const;
};

class ClockModel {
 public:
  // A new measurement, later than all before.
  void add(const ClockOffset& offset);

  // The latest offset, and the drift since the earliest that is not out of date.
  // Without a measurement the clocks are one.
  ClockLine line() const { return line_; }

 private:
  std::deque<ClockOffset> recent_;
  ClockLine line_;
};

}  // namespace foretrace::measure
