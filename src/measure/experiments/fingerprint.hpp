// Fingerprint: the state that a machine is in while a launch measures it.
//
// Virtual and shared machines have states: where the cores lie that the ranks
// got decides how long every message takes, and it changes from one launch to
// the next. launch_states.hpp compares fingerprints.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "base/cache_line.hpp"

namespace foretrace::measure {

// Times a cache line between two ranks of rank 0's host. Made by all of `world`, which need not be
// there any more when it dies.
class LineWatch {
 public:
  explicit LineWatch(MPI_Comm world);
  ~LineWatch();
  LineWatch(const LineWatch&) = delete;
  LineWatch& operator=(const LineWatch&) = delete;

  // Seconds, by all ranks at once, with a collective before the next time; valid on rank 0.
  // 0: its host has no other rank, or that never ran.
  double times();
  // Only to tell in which state the machine is: some ten microseconds.
  double times_shortly();

 private:
  double take_part(double (CacheLine::*timing)());

  CacheLine* line_ = nullptr;  // shared; nullptr: this rank has no part in it
  bool asks_ = false;
};

struct Fingerprint {
  // Seconds that a cache line takes from the core of rank 0 to that of another
  // rank of its host, a low quantile; 0: there is none, or it never ran.
  double bounce = 0;
  double bandwidth = 0;  // bytes per second that rank 0 copies, at best
  double load = 0;       // load average of rank 0's host over the last minute
};

// Collective over `world`; valid on rank 0.
Fingerprint take_fingerprint(MPI_Comm world, LineWatch& watch);

// What does not change within a launch, as "key = value": binding (the cores
// that each rank may use), clock_source, governor, processor, mpi_library,
// mpi_settings (environment variables). Collective; valid on rank 0.
std::map<std::string, std::string> describe_machine(MPI_Comm world);

}  // namespace foretrace::measure
