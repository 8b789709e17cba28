// What calls take that move data without a partner who waits for it: one-sided
// communication, files.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {

// Its equation if the model has one of its name (`put` for "MPI_Put") or of a call
// that moves data in the same way (docs/theory.md), else zero.
Time moving_time(const Timing& timing, std::string_view mpi_name, int ranks, Bytes bytes);

// When an access to a window's memory leaves its call, and when it is done at its target and
// its origin knows.
struct AccessTimes {
  Time leave;
  Time end;
};

// A rank's accesses, in program order: they overlap, but for their bytes, which follow each
// other (docs/theory.md, One-sided communication).
class AccessPort {
 public:
  AccessTimes begin(const Timing& timing, OneSided access, Time enter, Bytes bytes) {
    const Time takes = timing.access_time(access, bytes);
    const Time stream = std::clamp(takes - timing.access_time(access, Bytes(0)), Time(), takes);
    const Time begin = std::max(enter, free_);
    free_ = begin + stream;
    return {enter + timing.access_post_time(access, bytes), begin + takes};
  }

 private:
  Time free_;
};

}  // namespace foretrace::machine
