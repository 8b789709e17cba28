// Group: the processes that take part in an experiment, and what is known of
// their clocks and cores.
#pragma once

#include <mpi.h>

namespace foretrace::measure {

// What holds for the whole run; found once, by all ranks together.
struct Surroundings {
  bool common_clock = false;    // every rank reads the same clock (one host)
  bool oversubscribed = false;  // some host has more ranks than cores for them
};
Surroundings examine_surroundings(MPI_Comm world);

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
};
Group group_of(MPI_Comm comm);

// The message size from which on a standard send waits for its receive, found
// by bisection between 0 and `max_bytes`: a posted send that completes while
// the receiver polls without a matching receive was buffered. Called by both
// ranks of `pair`. -1: none up to max_bytes.
long long find_sync_threshold(const Group& pair, long long max_bytes);

}  // namespace foretrace::measure
