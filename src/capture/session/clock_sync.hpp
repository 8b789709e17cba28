// ClockSync: one time line for a recording on several hosts.
//
// Ranks whose processes read the same clock form a host; one rank of each
// measures its clock against rank 0's when the run begins, and again at its
// end. On one host nothing is measured and no message sent.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock_offset.hpp"
#include "trace/clocks.hpp"

namespace foretrace::capture {

class ClockSync {
 public:
  // Collective, as all here.
  void start(int rank, int ranks);
  // What is known of the clocks after start().
  trace::Clocks at_start() const;
  // This moment, the latest over all ranks: as the rank's own clock shows it.
  std::int64_t common_now_ns() const;
  // Measures again. Returns what goes into the sealed trace, on rank 0 (elsewhere
  // nothing of use), whose times count from `zero_ns` of each rank's clock.
  trace::Clocks finish(std::int64_t zero_ns);

 private:
  bool several_hosts() const { return leaders_.size() > 1; }
  ClockOffset measure() const;

  int rank_ = 0;
  int ranks_ = 0;
  std::vector<int> leaders_;      // the lowest rank of each host, rank 0 first
  int leader_ = 0;                // of this rank's host
  ClockOffset first_;             // rank 0's clock minus this host's
  std::int64_t first_error_ = 0;  // the largest of all hosts
};

}  // namespace foretrace::capture
