// What one thread of the program has computed since its last call.
#pragma once

#include "base/cpu_clock.hpp"
#include "base/thread_calls.hpp"
#include "base/time.hpp"

namespace foretrace::mpi {

struct ThreadWork {
  CpuClock cpu;
  Time compute;      // since its last posting
  double steps = 0;  // announced or counted since then
  // Where several threads call (Line::several_): the rank's clock when its last call returned.
  Time since;
  bool has_called = false;  // not only said what it computes
};

}  // namespace foretrace::mpi
