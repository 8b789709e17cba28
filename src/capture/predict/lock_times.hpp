// LockTimes: when the locks of a window's targets were given back, in virtual time.
//
// Under predict the MPI decides who gets a lock first. Whoever has got one reads here until when it
// was held before, and leaves its own time before it gives the lock back. The times lie in a window
// of our own, beside the program's, at their targets.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/time.hpp"

namespace foretrace::capture {

class LockTimes {
 public:
  // Collective, of the members of the program's window.
  void make(MPI_Comm comm);
  void free();

  // Until when the target's lock was held by those that one who has it now had to wait for.
  Time held_until(int target, bool exclusive) const;
  void give_back(int target, bool exclusive, Time when) const;

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace foretrace::capture
