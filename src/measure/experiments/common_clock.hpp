// CommonClock: one clock for all ranks, so that they can agree on a moment.
//
// Ranks whose processes read the same clock form a host. One rank of each
// measures its clock against another host's, in a tree below rank 0's host: in
// every round the hosts that know the common clock tell as many others, all at
// the same time (hierarchical clock synchronisation, after Hunold and
// Carpen-Amarie). On one host nothing is measured.
#pragma once

#include <mpi.h>

#include <vector>

#include "measure/core/clock_model.hpp"

namespace foretrace::measure {

class CommonClock {
 public:
  // Collective over `world`, as measure() and release().
  explicit CommonClock(MPI_Comm world);
  void release();

  // Measures the clocks; again and again, because they drift.
  void measure();

  const ClockLine& line() const { return line_; }
  bool several_hosts() const { return leaders_.size() > 1; }
  int hosts() const { return static_cast<int>(leaders_.size()); }
  // What a moment may be off between any two hosts, in seconds.
  double error() const { return 1e-9 * static_cast<double>(error_); }

 private:
  void measure_as_leader();

  MPI_Comm world_;
  MPI_Comm host_ = MPI_COMM_NULL;  // those who read this rank's clock
  std::vector<int> leaders_;       // the lowest rank of each host, rank 0 first
  int host_index_ = 0;             // in leaders_
  int rank_ = 0;
  ClockModel model_;
  ClockLine line_;
  std::int64_t error_ = 0;
};

// For tests: FORETRACE_MEASURE_CLOCK="RANK:NANOSECONDS:PPM" makes the clock of
// that rank another host's, which is ahead and drifts. Throws UsageError.
void shift_clock_for_tests(int rank);

}  // namespace foretrace::measure
