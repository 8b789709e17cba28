// What calls take that move data without a partner who waits for it: one-sided
// communication, files.
#pragma once

#include <string_view>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {

// Its equation if the model has one of its name (`put` for "MPI_Put") or of a call
// that moves data in the same way (docs/theory.md), else zero.
Time moving_time(const Timing& timing, std::string_view mpi_name, int ranks, Bytes bytes);

}  // namespace foretrace::machine
