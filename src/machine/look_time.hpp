// What a look in vain takes (docs/theory.md, Polls).
#pragma once

#include <string_view>

#include "base/time.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {

// What the function's own equation says, if it is one that looks (MPI_Test, MPI_Iprobe, ...). One
// that waits looks as well, where its rank has other threads: its equation says what all of it
// takes, and nothing of a look.
Time look_time(const Timing& timing, std::string_view mpi_name, int ranks);

}  // namespace foretrace::machine
